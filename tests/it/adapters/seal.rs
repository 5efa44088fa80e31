//! `security-design` rules 13, 14 and 16.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use doorward::domain::model::ids::RealmId;
use doorward::domain::model::secret::Secret;
use doorward::entropy::SystemEntropy;
use doorward::seal::{MasterKey, MasterKeyError, Purpose, SEAL_OVERHEAD, Sealer, load_or_create, sha256, token};

const MAIN: RealmId = RealmId::from_bytes([1; 16]);
const OTHER: RealmId = RealmId::from_bytes([2; 16]);

fn sealer() -> Sealer {
    Sealer::new(MasterKey::generate(&SystemEntropy), Arc::new(SystemEntropy))
}

#[test]
fn a_sealed_value_opens_only_where_it_was_made_for() {
    let ours = sealer();
    let sealed = ours.seal(MAIN, Purpose::Code, b"payload", b"row 1");
    assert_eq!(sealed.len(), 7 + SEAL_OVERHEAD);
    assert_eq!(ours.open(MAIN, Purpose::Code, &sealed, b"row 1").as_deref(), Some(&b"payload"[..]));
    assert_eq!(ours.open(OTHER, Purpose::Code, &sealed, b"row 1"), None, "another realm");
    assert_eq!(ours.open(MAIN, Purpose::AccessToken, &sealed, b"row 1"), None, "another purpose");
    assert_eq!(ours.open(MAIN, Purpose::Code, &sealed, b"row 2"), None, "another context");
    assert_eq!(sealer().open(MAIN, Purpose::Code, &sealed, b"row 1"), None, "another master key");
    for at in 0..sealed.len() {
        let mut changed = sealed.clone();
        changed[at] ^= 1;
        assert_eq!(ours.open(MAIN, Purpose::Code, &changed, b"row 1"), None, "byte {at} changed");
        assert_eq!(ours.open(MAIN, Purpose::Code, &sealed[..at], b"row 1"), None, "cut at {at}");
    }
    let longer = [&sealed[..], &[0]].concat();
    assert_eq!(ours.open(MAIN, Purpose::Code, &longer, b"row 1"), None, "one byte more");
    assert_ne!(ours.seal(MAIN, Purpose::Code, b"payload", b"row 1"), sealed, "the nonce is fresh");
}

#[test]
fn the_empty_plaintext_and_text_form_work() {
    let ours = sealer();
    let text = ours.seal_text(MAIN, Purpose::Hop, b"", b"");
    assert_eq!(ours.open_text(MAIN, Purpose::Hop, &text, b""), Some(Vec::new()));
    assert_eq!(ours.open_text(MAIN, Purpose::Hop, &format!("{text}="), b""), None);
}

#[test]
fn parts_of_a_tag_cannot_be_shifted() {
    let ours = sealer();
    let tag = ours.tag(MAIN, Purpose::Form, &[b"ab", b"c"]);
    assert!(ours.check_tag(MAIN, Purpose::Form, &[b"ab", b"c"], &tag));
    assert!(!ours.check_tag(MAIN, Purpose::Form, &[b"a", b"bc"], &tag));
    assert!(!ours.check_tag(MAIN, Purpose::Form, &[b"ab", b"c"], &tag[..15]));
    assert!(!ours.check_tag(OTHER, Purpose::Form, &[b"ab", b"c"], &tag));
    let whole = ours.hmac(MAIN, Purpose::Form, &[b"ab", b"c"]);
    assert_ne!(whole.0[..16], tag, "the tag is no prefix of the hash");
    assert_eq!(sha256(b"abc").0[..4], [0xba, 0x78, 0x16, 0xbf]);
}

#[test]
fn written_forms_have_one_spelling() {
    let text = token::encode(&[0xff; 16]);
    assert_eq!(token::decode_exact::<16>(&text), Some([0xff; 16]));
    for wrong in [format!("{text}="), format!("{text}A"), text[..21].to_owned(), text.replace('_', "/")] {
        assert_eq!(token::decode_exact::<16>(&wrong), None, "{wrong}");
    }
    // 16 bytes leave four bits over: only the spelling with zeros there counts.
    assert_eq!(token::decode_exact::<16>(&format!("{}x", &text[..21])), None);
}

#[test]
fn a_master_key_is_32_bytes_in_three_spellings() {
    let bytes = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
    let hex = MasterKey::from_text(&Secret::from(bytes)).unwrap();
    let base64 = MasterKey::from_text(&Secret::from("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n")).unwrap();
    assert_eq!(hex.id(), base64.id());
    assert!(hex.verify(&base64.id(), &base64.check_value()));
    assert!(!hex.verify(&base64.id(), "other"));
    assert!(!format!("{hex:?}").contains("AAEC"));
    for wrong in ["", "change me", &bytes[1..], &"0".repeat(64), &"z".repeat(64)] {
        assert!(matches!(MasterKey::from_text(&Secret::from(wrong)), Err(MasterKeyError::Malformed(_))), "{wrong}");
    }
}

#[test]
fn a_master_key_is_made_only_with_an_empty_database() {
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("data");
    let missing = load_or_create(&data, false, &SystemEntropy).unwrap_err();
    assert!(matches!(missing, MasterKeyError::Missing(_)), "{missing}");
    assert!(!data.exists(), "nothing half done");

    let made = load_or_create(&data, true, &SystemEntropy).unwrap();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let file = data.join("master.key");
    assert_eq!((mode(&data), mode(&file)), (0o700, 0o600));
    assert_eq!(fs::read_dir(&data).unwrap().count(), 1, "nothing is left beside");
    assert_eq!(load_or_create(&data, false, &SystemEntropy).unwrap().id(), made.id());
    assert_eq!(load_or_create(&data, true, &SystemEntropy).unwrap().id(), made.id());

    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    let exposed = load_or_create(&data, false, &SystemEntropy).unwrap_err();
    assert!(exposed.to_string().contains("chmod 600"), "{exposed}");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&file, "").unwrap();
    assert!(matches!(load_or_create(&data, true, &SystemEntropy), Err(MasterKeyError::Malformed(_))));
}

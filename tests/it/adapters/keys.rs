//! Signing keys: each algorithm signs and verifies, realms do not mix, phases decide what is published.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use doorward::domain::model::ids::{KeyId, RealmId};
use doorward::domain::model::key::{Algorithm, SigningKey};
use doorward::domain::model::timestamp::Timestamp;
use doorward::domain::protocol::jwks;
use doorward::domain::protocol::jwt::JwsHeader;
use doorward::entropy::SystemEntropy;
use doorward::keys::{Error, KeyRing, KeySource, NewKey, Signer, generate};
use doorward::seal::{MasterKey, Sealer, token};

const REALM: RealmId = RealmId::from_bytes([1; 16]);
const OTHER: RealmId = RealmId::from_bytes([2; 16]);
const NOW: Timestamp = Timestamp::from_secs(1_800_000_000);

struct Fixed(Mutex<Arc<Vec<SigningKey>>>);

#[async_trait]
impl KeySource for Fixed {
    async fn keys(&self, realm: RealmId) -> Result<Arc<Vec<SigningKey>>, String> {
        let keys = Arc::clone(&self.0.lock().unwrap());
        Ok(if realm == REALM { keys } else { Arc::default() })
    }
}

fn sealer() -> Sealer {
    Sealer::new(MasterKey::generate(&SystemEntropy), Arc::new(SystemEntropy))
}

fn key(sealer: &Sealer, number: u8, alg: Algorithm) -> SigningKey {
    let active_at = NOW.minus(Duration::from_secs(u64::from(number)));
    let id = KeyId::from_bytes([number; 16]);
    generate(sealer, NewKey { realm: REALM, id, alg, rsa_bits: 2048, announced_at: active_at, active_at }).unwrap()
}

fn ring(sealer: &Sealer, keys: Vec<SigningKey>) -> (KeyRing, Arc<Fixed>) {
    let source = Arc::new(Fixed(Mutex::new(Arc::new(keys))));
    (KeyRing::new(source.clone(), sealer.clone()), source)
}

fn token_of(signer: &dyn Signer, alg: Algorithm) -> String {
    signed(signer, alg, r#"{"sub":"1"}"#)
}

fn signed(signer: &dyn Signer, alg: Algorithm, payload: &str) -> String {
    let input = format!("{}.{}", JwsHeader::encode(alg, signer.kid(), "JWT"), token::encode(payload.as_bytes()));
    let signature = signer.sign(input.as_bytes()).unwrap();
    format!("{input}.{}", token::encode(&signature))
}

#[tokio::test]
async fn every_algorithm_signs_and_verifies() {
    let sealer = sealer();
    let keys = (1..).zip(Algorithm::ALL).map(|(number, alg)| key(&sealer, number, alg)).collect();
    let (ring, _) = ring(&sealer, keys);
    for alg in Algorithm::ALL {
        let signer = ring.signer(REALM, alg, NOW).await.unwrap();
        assert_eq!(signer.alg(), alg);
        let text = token_of(signer.as_ref(), alg);
        let verified = ring.verify(REALM, &text, NOW).await.unwrap();
        assert_eq!(verified.payload, b"{\"sub\":\"1\"}");
        assert!(!verified.key_gone);
        assert!(matches!(ring.verify(OTHER, &text, NOW).await, Err(Error::Refused)), "another realm");
        let (input, signature) = text.rsplit_once('.').unwrap();
        let mut signature = token::decode(signature).unwrap();
        signature[5] ^= 1;
        let forged = format!("{input}.{}", token::encode(&signature));
        assert!(matches!(ring.verify(REALM, &forged, NOW).await, Err(Error::Refused)), "{alg:?} forged");
        // The same key under another algorithm's name is another key.
        for wrong in Algorithm::ALL.into_iter().filter(|wrong| *wrong != alg) {
            let text = token_of(signer.as_ref(), wrong);
            assert!(matches!(ring.verify(REALM, &text, NOW).await, Err(Error::Refused)), "{alg:?} as {wrong:?}");
        }
    }
    let es256 = ring.signer(REALM, Algorithm::ES256, NOW).await.unwrap();
    assert_eq!(es256.sign(b"x").unwrap().len(), 64);
    let again = ring.signer(REALM, Algorithm::ES256, NOW).await.unwrap();
    assert!(Arc::ptr_eq(&es256, &again), "parsed once");
    assert!(matches!(ring.signer(OTHER, Algorithm::ES256, NOW).await, Err(Error::NoActiveKey(_))));
}

#[tokio::test]
async fn other_libraries_accept_our_signatures() {
    let sealer = sealer();
    let key = key(&sealer, 1, Algorithm::PS256);
    let jwk = josekit_public(&key);
    let (ring, _) = ring(&sealer, vec![key]);
    let signer = ring.signer(REALM, Algorithm::PS256, NOW).await.unwrap();
    let text = token_of(signer.as_ref(), Algorithm::PS256);
    let verifier = josekit::jws::PS256.verifier_from_jwk(&jwk).unwrap();
    let (payload, header) = josekit::jws::deserialize_compact(text, &verifier).unwrap();
    assert_eq!(payload, b"{\"sub\":\"1\"}");
    assert_eq!(header.claim("kid").unwrap(), signer.kid());
}

fn josekit_public(key: &SigningKey) -> josekit::jwk::Jwk {
    josekit::jwk::Jwk::from_bytes(key.public_jwk.as_bytes()).unwrap()
}

#[tokio::test]
async fn a_key_opens_only_in_its_own_row_with_its_own_master_key() {
    let sealer_a = sealer();
    let mut stored = key(&sealer_a, 1, Algorithm::EdDSA);
    assert_eq!(jwks::thumbprint(&stored.public_jwk).as_deref(), Some(stored.kid.as_str()));
    let (foreign, _) = ring(&sealer(), vec![stored.clone()]);
    let error = foreign.signer(REALM, Algorithm::EdDSA, NOW).await.unwrap_err();
    assert!(error.to_string().contains("cannot be opened with this master key"), "{error}");
    stored.id = KeyId::from_bytes([9; 16]);
    let (moved, _) = ring(&sealer_a, vec![stored]);
    assert!(matches!(moved.signer(REALM, Algorithm::EdDSA, NOW).await, Err(Error::Broken { .. })));
}

#[tokio::test]
async fn phases_decide_what_is_published() {
    let sealer = sealer();
    let hour = Duration::from_secs(3600);
    let mut announced = key(&sealer, 1, Algorithm::ES256);
    announced.active_at = NOW.plus(hour);
    let active = key(&sealer, 2, Algorithm::ES256);
    let mut retired = key(&sealer, 3, Algorithm::ES256);
    (retired.retired_at, retired.gone_at) = (Some(NOW), Some(NOW.plus(hour * 2)));
    let mut gone = key(&sealer, 4, Algorithm::ES256);
    (gone.retired_at, gone.gone_at) = (Some(NOW.minus(hour)), Some(NOW));
    let all = vec![gone.clone(), retired.clone(), announced.clone(), active.clone()];
    let (ring, source) = ring(&sealer, all.clone());

    let kids = |text: &[u8]| -> Vec<String> {
        let document: serde_json::Value = serde_json::from_slice(text).unwrap();
        let keys = document["keys"].as_array().unwrap().clone();
        keys.iter().map(|key| key["kid"].as_str().unwrap().to_owned()).collect()
    };
    let first = ring.jwks(REALM, NOW).await.unwrap();
    assert_eq!(kids(&first.bytes), [&active.kid, &announced.kid, &retired.kid].map(String::clone));
    let same = ring.jwks(REALM, NOW.plus(hour / 2)).await.unwrap();
    assert!(Arc::ptr_eq(&first, &same), "nothing is rebuilt within a phase");
    let later = ring.jwks(REALM, NOW.plus(hour * 2)).await.unwrap();
    assert_eq!(kids(&later.bytes), [&announced.kid, &active.kid].map(String::clone));
    assert_ne!(first.etag, later.etag);
    assert_eq!(ring.signer(REALM, Algorithm::ES256, NOW.plus(hour)).await.unwrap().kid(), announced.kid);

    *source.0.lock().unwrap() = Arc::new(vec![active.clone()]);
    assert_eq!(kids(&ring.jwks(REALM, NOW).await.unwrap().bytes), [active.kid]);
    *source.0.lock().unwrap() = Arc::new(all);
    assert_eq!(ring.jwks(REALM, NOW).await.unwrap().etag, first.etag, "the same keys have the same tag");
    let header = JwsHeader::encode(Algorithm::ES256, &gone.kid, "JWT");
    assert!(ring.verify(REALM, &format!("{header}.e30.AAAA"), NOW).await.is_err());
}

/// `security-design` rule 13: a remembered verdict is the token's own, under its id, and vouches for nothing
/// but the text that was verified.
#[tokio::test]
async fn a_token_that_was_verified_vouches_for_no_other_with_its_id() {
    let sealer = sealer();
    let (ring, _) = ring(&sealer, vec![key(&sealer, 1, Algorithm::ES256), key(&sealer, 2, Algorithm::EdDSA)]);
    let signer = ring.signer(REALM, Algorithm::ES256, NOW).await.unwrap();
    let payload = r#"{"jti":"tok_0190c5d8aaaa7bbb8ccc0123456789ab","sub":"1"}"#;
    let text = signed(signer.as_ref(), Algorithm::ES256, payload);
    for _ in 0..2 {
        assert_eq!(ring.verify(REALM, &text, NOW).await.unwrap().payload, payload.as_bytes());
    }
    let (input, signature) = text.rsplit_once('.').unwrap();
    let (header, _) = input.split_once('.').unwrap();
    let greater = token::encode(payload.replace("\"1\"", "\"2\"").as_bytes());
    let mut broken = token::decode(signature).unwrap();
    broken[5] ^= 1;
    let other = ring.signer(REALM, Algorithm::EdDSA, NOW).await.unwrap();
    let under_another_key = JwsHeader::encode(Algorithm::EdDSA, other.kid(), "JWT");
    for forged in [
        format!("{header}.{greater}.{signature}"),
        format!("{input}.{}", token::encode(&broken)),
        format!("{input}.{}", token::encode(&[0; 64])),
        format!("{under_another_key}.{}.{signature}", token::encode(payload.as_bytes())),
    ] {
        assert!(matches!(ring.verify(REALM, &forged, NOW).await, Err(Error::Refused)), "{forged}");
    }
    assert!(matches!(ring.verify(OTHER, &text, NOW).await, Err(Error::Refused)), "another realm");
    assert!(ring.verify(REALM, &text, NOW).await.is_ok());
}

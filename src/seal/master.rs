//! The master key, which wraps every stored secret and private signing key (`security-design`
//! rule 16). It is given by the operator, or generated once together with an empty embedded
//! database; it is never printed, never part of a backup, and a database knows the id and a check
//! value of the key that it was made with.

use std::fmt;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use aws_lc_rs::hkdf::{HKDF_SHA256, Prk, Salt};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

use crate::domain::model::secret::Secret;
use crate::entropy::Entropy;

/// The file of a generated key in the data folder.
const FILE_NAME: &str = "master.key";

/// Larger files are not a key.
const MAX_FILE: u64 = 4096;

/// Why there is no master key.
#[derive(Debug)]
pub enum MasterKeyError {
    /// The text is not 32 bytes in one of the three spellings, or no key at all.
    Malformed(String),
    /// There is a database but the key that belongs to it is not there.
    Missing(PathBuf),
    /// Others may read the file, or it is not a plain file.
    Exposed(PathBuf, String),
    /// The file or its folder cannot be used.
    Io(PathBuf, io::Error),
}

impl fmt::Display for MasterKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(place) => write!(
                f,
                "{place} is not a key: give 32 random bytes as base64, base64url or hexadecimal text, for example from `openssl rand -base64 32`"
            ),
            Self::Missing(path) => write!(
                f,
                "the master key {} is missing, but the database holds data that only it can open: put the file back, or set master_key",
                path.display()
            ),
            Self::Exposed(path, fault) => {
                write!(f, "the master key {} {fault}: chmod 600 it, and its folder 700", path.display())
            }
            Self::Io(path, error) => write!(f, "the master key {} cannot be used: {error}", path.display()),
        }
    }
}

impl std::error::Error for MasterKeyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(_, error) => Some(error),
            _ => None,
        }
    }
}

/// 32 secret bytes. Wiped on drop, never shown.
pub struct MasterKey([u8; 32]);

impl MasterKey {
    /// Reads 32 bytes written as base64, base64url (with or without padding) or hexadecimal digits.
    pub fn from_text(text: &Secret) -> Result<Self, MasterKeyError> {
        Self::parse(text.expose()).ok_or_else(|| MasterKeyError::Malformed("master_key".to_owned()))
    }

    /// Draws a new key.
    #[must_use]
    pub fn generate(entropy: &dyn Entropy) -> Self {
        let mut key = [0; 32];
        entropy.fill("master_key", &mut key);
        Self(key)
    }

    /// Tells which key it is without telling the key: 16 hexadecimal digits.
    #[must_use]
    pub fn id(&self) -> String {
        hex(&self.derive::<8>(b"doorward master key id"))
    }

    /// What a database keeps to recognise its key: 64 hexadecimal digits.
    #[must_use]
    pub fn check_value(&self) -> String {
        hex(&self.derive::<32>(b"doorward master key check"))
    }

    /// Whether a database that keeps `id` and `check_value` was made with this key.
    #[must_use]
    pub fn verify(&self, id: &str, check_value: &str) -> bool {
        let right = self.check_value();
        id == self.id() && bool::from(right.as_bytes().ct_eq(check_value.as_bytes()))
    }

    /// The first four bytes of the id, which sealed values carry.
    pub(super) fn short_id(&self) -> [u8; 4] {
        self.derive::<4>(b"doorward master key id")
    }

    /// The extracted key that all others are expanded from.
    pub(super) fn root(&self) -> Prk {
        Salt::new(HKDF_SHA256, b"doorward/seal/1").extract(&self.0)
    }

    fn derive<const N: usize>(&self, label: &[u8]) -> [u8; N] {
        expand(&self.root(), &[label])
    }

    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let bytes = Zeroizing::new(match text.len() {
            64 => unhex(text)?,
            43 => STANDARD_NO_PAD.decode(text).or_else(|_| URL_SAFE_NO_PAD.decode(text)).ok()?,
            44 => STANDARD.decode(text).or_else(|_| URL_SAFE.decode(text)).ok()?,
            _ => return None,
        });
        let key: [u8; 32] = bytes.as_slice().try_into().ok()?;
        // A key of one repeated byte is a placeholder that someone forgot to replace.
        let first = key.first().copied()?;
        (!key.iter().all(|byte| *byte == first)).then_some(Self(key))
    }
}

impl Drop for MasterKey {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MasterKey({}, [redacted])", self.id())
    }
}

/// The key that belongs to an embedded database: read from its file, or made together with it when
/// the database is empty. Making one is exclusive: of two processes one wins and the other reads.
pub fn load_or_create(
    data_dir: &Path,
    database_is_empty: bool,
    entropy: &dyn Entropy,
) -> Result<MasterKey, MasterKeyError> {
    let path = data_dir.join(FILE_NAME);
    match load(&path) {
        Err(MasterKeyError::Io(_, error)) if error.kind() == io::ErrorKind::NotFound => {}
        other => return other,
    }
    if !database_is_empty {
        return Err(MasterKeyError::Missing(path));
    }
    close_folder(data_dir).map_err(|error| MasterKeyError::Io(data_dir.to_owned(), error))?;
    match create(data_dir, &path, entropy) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(MasterKeyError::Io(path, error)),
        _ => load(&path),
    }
}

fn load(path: &Path) -> Result<MasterKey, MasterKeyError> {
    let broken = |error| MasterKeyError::Io(path.to_owned(), error);
    let about = fs::symlink_metadata(path).map_err(broken)?;
    if !about.is_file() || about.len() > MAX_FILE {
        return Err(MasterKeyError::Exposed(path.to_owned(), "is not a small plain file".to_owned()));
    }
    if about.permissions().mode() & 0o077 != 0 {
        let fault = format!("has mode {:03o}, so others may use it", about.permissions().mode() & 0o777);
        return Err(MasterKeyError::Exposed(path.to_owned(), fault));
    }
    let mut text = Zeroizing::new(String::new());
    File::open(path).and_then(|file| file.take(MAX_FILE).read_to_string(&mut text)).map_err(broken)?;
    MasterKey::parse(&text).ok_or_else(|| MasterKeyError::Malformed(path.display().to_string()))
}

/// The folder exists afterwards and only its owner may enter it.
fn close_folder(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mode = fs::metadata(folder)?.permissions().mode();
    if mode & 0o077 == 0 { Ok(()) } else { fs::set_permissions(folder, Permissions::from_mode(0o700)) }
}

/// Writes beside and links into place, so that a crash leaves either no key or a whole one. A link
/// never replaces what is there, which makes the creation exclusive.
fn create(folder: &Path, path: &Path, entropy: &dyn Entropy) -> io::Result<()> {
    let key = MasterKey::generate(entropy);
    let mut mark = [0; 4];
    entropy.fill("master_key_file", &mut mark);
    let beside = folder.join(format!("{FILE_NAME}.{}", hex(&mark)));
    let text = Zeroizing::new(format!("{}\n", STANDARD.encode(key.0)));
    let done = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::hard_link(&beside, path)
    });
    // The name beside has served whatever happened; only the link's outcome counts.
    drop(fs::remove_file(&beside));
    done?;
    File::open(folder)?.sync_all()
}

/// Expands `N` bytes for the label made of `parts`.
#[expect(clippy::expect_used, reason = "HKDF gives up to 255 blocks; no caller asks for more than one or two")]
pub(super) fn expand<const N: usize>(root: &Prk, parts: &[&[u8]]) -> [u8; N] {
    struct Length(usize);
    impl aws_lc_rs::hkdf::KeyType for Length {
        fn len(&self) -> usize {
            self.0
        }
    }
    let mut out = [0; N];
    root.expand(parts, Length(N)).and_then(|okm| okm.fill(&mut out)).expect("a length that HKDF allows");
    out
}

fn hex(bytes: &[u8]) -> String {
    use fmt::Write;
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|value| u8::try_from(value).ok());
    text.as_bytes().chunks(2).map(|pair| Some(digit(*pair.first()?)? * 16 + digit(*pair.get(1)?)?)).collect()
}

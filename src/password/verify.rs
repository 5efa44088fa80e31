//! One hash: PHC strings read and written, foreign parameters within bounds, comparison in constant
//! time. Runs on a hashing thread in that thread's own memory.

use argon2::{Algorithm, Argon2, Block, Params, PasswordHash, Version};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

/// Bytes of a new salt (RFC 9106 section 3.1).
pub(super) const SALT_LEN: usize = 16;
/// Bytes of a new tag.
const TAG_LEN: usize = 32;
/// Imported hashes may ask for this much memory …
const MAX_MEMORY_KIB: u32 = 65_536;
/// … this much work in KiB times passes …
const MAX_WORK: u64 = 655_360;
/// … and this many lanes.
const MAX_LANES: u32 = 8;

/// A hashing thread's memory, allocated once.
pub(super) struct Arena(Vec<Block>);

impl Arena {
    pub(super) fn new(params: &Params) -> Self {
        Self(vec![Block::new(); params.block_count()])
    }

    /// Hashes into `tag`; whether it could.
    fn hash(&mut self, argon: &Argon2<'_>, password: &[u8], salt: &[u8], tag: &mut [u8]) -> bool {
        let blocks = argon.params().block_count();
        // An imported hash may need more than ours; that memory goes again at once.
        let mut larger = Vec::new();
        let memory = match self.0.get_mut(..blocks) {
            Some(memory) => memory,
            None => {
                larger.resize(blocks, Block::new());
                &mut larger
            }
        };
        let done = argon.hash_password_into_with_memory(password, salt, tag, &mut *memory).is_ok();
        // The first blocks follow from the password alone (`security-design` rule 24).
        memory.iter_mut().take(2).for_each(Zeroize::zeroize);
        done
    }
}

/// A stored hash that may be computed.
pub(super) struct Stored {
    argon: Argon2<'static>,
    salt: Vec<u8>,
    tag: Vec<u8>,
    /// Made with today's parameters.
    is_current: bool,
    /// KiB times passes.
    pub(super) work: u64,
}

/// The parameters of new hashes.
pub(super) struct Hasher {
    argon: Argon2<'static>,
    decoy_salt: [u8; SALT_LEN],
}

impl Hasher {
    /// With today's parameters; the decoy's salt is drawn once.
    pub(super) fn new(params: Params, decoy_salt: [u8; SALT_LEN]) -> Self {
        Self { argon: Argon2::new(Algorithm::Argon2id, Version::V0x13, params), decoy_salt }
    }

    pub(super) fn params(&self) -> &Params {
        self.argon.params()
    }

    /// KiB times passes of one hash.
    pub(super) fn work(&self) -> u64 {
        work(self.params())
    }

    /// Reads a PHC string; `None` when it is none of Argon2, or beyond the bounds.
    pub(super) fn read(&self, phc: &str) -> Option<Stored> {
        let parsed = PasswordHash::new(phc).ok()?;
        let algorithm = Algorithm::try_from(parsed.algorithm.as_str()).ok()?;
        let version = Version::try_from(parsed.version.unwrap_or(0x10)).ok()?;
        let params = Params::try_from(&parsed).ok()?;
        let (salt, tag) = (parsed.salt?.as_ref().to_vec(), parsed.hash?.as_bytes().to_vec());
        let ours = self.params();
        let within = params.m_cost() <= MAX_MEMORY_KIB.max(ours.m_cost())
            && work(&params) <= MAX_WORK.max(self.work())
            && params.p_cost() <= MAX_LANES
            && salt.len() >= argon2::MIN_SALT_LEN
            && tag.len() >= 16;
        if !within {
            return None;
        }
        let is_current = algorithm == Algorithm::Argon2id
            && version == Version::V0x13
            && (params.m_cost(), params.t_cost(), params.p_cost()) == (ours.m_cost(), ours.t_cost(), ours.p_cost())
            && params.keyid().is_empty()
            && salt.len() >= SALT_LEN
            && tag.len() == TAG_LEN;
        let work = work(&params);
        Some(Stored { argon: Argon2::new(algorithm, version, params), salt, tag, is_current, work })
    }

    /// Whether `password` is the stored one, and whether the hash should be made anew. What does not
    /// match has cost one current hash at least, whatever was stored.
    pub(super) fn verify(&self, arena: &mut Arena, password: &str, stored: Option<&Stored>) -> (bool, bool) {
        let Some(stored) = stored else {
            self.decoy(arena, password);
            return (false, false);
        };
        let mut tag = vec![0; stored.tag.len()];
        let done = arena.hash(&stored.argon, password.as_bytes(), &stored.salt, &mut tag);
        let matches = done & bool::from(tag.ct_eq(&stored.tag));
        tag.zeroize();
        if !matches && !stored.is_current {
            self.decoy(arena, password);
        }
        (matches, matches && !stored.is_current)
    }

    /// Work without meaning.
    pub(super) fn decoy(&self, arena: &mut Arena, password: &str) {
        let mut tag = [0; TAG_LEN];
        std::hint::black_box(arena.hash(&self.argon, password.as_bytes(), &self.decoy_salt, &mut tag));
        tag.zeroize();
    }

    /// The PHC string of a new hash.
    pub(super) fn hash(&self, arena: &mut Arena, password: &str, salt: &[u8; SALT_LEN]) -> Option<String> {
        let mut tag = [0; TAG_LEN];
        let done = arena.hash(&self.argon, password.as_bytes(), salt, &mut tag);
        let params = self.params();
        let phc = format!(
            "$argon2id$v=19$m={},t={},p={}${}${}",
            params.m_cost(),
            params.t_cost(),
            params.p_cost(),
            STANDARD_NO_PAD.encode(salt),
            STANDARD_NO_PAD.encode(tag)
        );
        tag.zeroize();
        done.then_some(phc)
    }
}

fn work(params: &Params) -> u64 {
    u64::from(params.m_cost()) * u64::from(params.t_cost())
}

/// KiB times passes that [`Hasher::verify`] has spent.
pub(super) fn work_done(hasher: &Hasher, stored: Option<&Stored>, matches: bool) -> u64 {
    match stored {
        Some(stored) if stored.is_current || matches => stored.work,
        Some(stored) => stored.work + hasher.work(),
        None => hasher.work(),
    }
}

//! Random words: creation, comparison and hashing.

use results::{RunRecord, hex};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// Size of a run id in bytes: short enough for a link, long enough to avoid collisions.
pub(crate) const RUN_ID_BYTES: usize = 8;
/// Size of a nonce and of a deletion secret in bytes, too many to guess.
pub(crate) const SECRET_BYTES: usize = 32;

/// Returns `N` bytes from the operating system, in hex.
pub(crate) fn random_word<const N: usize>() -> Result<String, getrandom::Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(hex(&bytes))
}

/// Returns the SHA-256 in hex. Secrets are random words of 256 bits, so a plain hash is enough to hide them.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Compares two words in constant time.
pub(crate) fn same(a: &str, b: &str) -> bool {
    a.as_bytes().ct_eq(b.as_bytes()).into()
}

/// Removes run id and nonce from the record and hashes the rest, to recognize a repeated record.
pub(crate) fn fingerprint(record: &mut RunRecord) -> Result<String, serde_json::Error> {
    record.run_id = None;
    record.nonce = None;
    Ok(sha256(&serde_json::to_vec(record)?))
}

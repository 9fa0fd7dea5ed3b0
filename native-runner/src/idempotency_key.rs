//! The words by which a leaderboard knows that a record comes from the same person once more.
//!
//! Where the answer to an import was lost, nobody has the run's deletion secret. The same record with the same word is
//! answered with it again, also by a later process: so the word is kept in the user's cache until there is an answer.

use std::fs;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use crate::published_data::cache;

/// Too many to guess.
const BYTES: usize = 32;

/// The word of one record, whose JSON is sent.
pub(crate) struct IdempotencyKey {
    word: String,
    /// Absent where the user has no cache: then a later process has another word.
    file: Option<PathBuf>,
}

impl IdempotencyKey {
    /// That of `json`: the one that was kept, or a new one.
    ///
    /// # Errors
    /// The operating system gives no random numbers.
    pub(crate) fn of(json: &str) -> Result<Self, getrandom::Error> {
        Self::in_folder(json, cache().map(|cache| cache.join("uploads")))
    }

    fn in_folder(json: &str, folder: Option<PathBuf>) -> Result<Self, getrandom::Error> {
        let file = folder.map(|folder| folder.join(hex(&Sha256::digest(json))));
        if let Some(word) = file.as_ref().and_then(|file| fs::read_to_string(file).ok()).filter(|word| is_whole(word)) {
            return Ok(Self { word, file });
        }
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes)?;
        let word = hex(&bytes);
        if let Some(file) = &file {
            // Where it cannot be kept, only a repetition in this process has the same one.
            let _ = file.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(file, &word));
        }
        Ok(Self { word, file })
    }

    pub(crate) fn word(&self) -> &str {
        &self.word
    }

    /// There is an answer.
    pub(crate) fn forget(self) {
        if let Some(file) = self.file {
            // One that stays is used for no other record.
            let _ = fs::remove_file(file);
        }
    }
}

fn is_whole(word: &str) -> bool {
    word.len() == 2 * BYTES && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_the_same_until_there_is_an_answer() {
        let folder = tempfile::tempdir().unwrap();
        let of = |json| IdempotencyKey::in_folder(json, Some(folder.path().join("uploads"))).unwrap();
        let first = of("a record");
        assert!(results::api::IDEMPOTENCY_KEY_LENGTHS.contains(&first.word().len()));
        assert_eq!(of("a record").word(), first.word());
        assert_ne!(of("another").word(), first.word());
        let word = first.word().to_owned();
        fs::write(first.file.as_ref().unwrap(), "half").unwrap();
        assert_ne!(of("a record").word(), word);
        let again = of("a record");
        let word = again.word().to_owned();
        again.forget();
        assert_ne!(of("a record").word(), word);
    }

    #[test]
    fn a_user_without_a_cache_has_a_word_as_well() {
        assert!(is_whole(IdempotencyKey::in_folder("a record", None).unwrap().word()));
    }
}

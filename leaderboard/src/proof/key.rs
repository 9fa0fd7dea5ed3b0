use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail, ensure};
use hmac::{Hmac, KeyInit, Mac};
use results::{Beacon, Suite};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::Sha256;

use super::{SeenLap, SeenSegment};
use crate::secrets::{RUN_ID_BYTES, SECRET_BYTES, random_word};
use crate::whole_file::partial;

/// Minimum length of a secret. A shorter one could be guessed.
const MIN_CHARACTERS: usize = 32;
/// Maximum size of a secret file. A longer file contains something else.
const MAX_BYTES: u64 = 4096;

/// The server's secret. Servers that share a database share it. Clones are cheap.
#[derive(Clone)]
pub(crate) struct ServerKey(Arc<[u8]>);

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Started {
    pub(crate) run_id: String,
    pub(crate) seed: u32,
    pub(crate) suite: Suite,
    pub(crate) engine_version: String,
    pub(crate) created_unix_seconds: f64,
    pub(crate) expires_unix_seconds: f64,
    pub(crate) used: bool,
    /// Pseudonym of the submitter for one day.
    pub(crate) submitter: Option<String>,
    /// Pseudonym of the address's /24 or /48 for one day. `None` for the host's own machine.
    pub(crate) prefix: Option<String>,
    /// Definition of the network of the open class; absent in other suites.
    pub(crate) network: Option<Value>,
}

impl ServerKey {
    /// Returns the given secret, or the file's, which is created if missing. Servers of one database share it.
    pub(crate) fn load(given: Option<&str>, file: Option<&Path>) -> Result<Self> {
        let (text, place) = match (given, file) {
            (Some(text), _) => (text.to_owned(), String::new()),
            (None, Some(file)) => (read_or_make(file)?, format!(" in {}", file.display())),
            (None, None) => bail!(
                "with PostgreSQL, the secret has no default file: specify one with --secret-file. The first server \
                 creates it; copy it to each other server on the same database"
            ),
        };
        let text = text.trim();
        ensure!(
            text.len() >= MIN_CHARACTERS,
            "the secret{place} has {} characters, but needs at least {MIN_CHARACTERS}: create one with `openssl rand \
             -hex 32`",
            text.len()
        );
        Ok(Self(text.as_bytes().into()))
    }

    /// Returns a key derived from a word, which is as secret as the word.
    pub(super) fn of_word(word: &str) -> Self {
        Self(word.as_bytes().into())
    }

    /// Returns the nonce of an announced run: an HMAC of all its promises. A reader of the database cannot compute it.
    pub(crate) fn nonce(&self, of: &Started) -> String {
        let network = of.network.as_ref().map(Value::to_string);
        let (created, expires) = (of.created_unix_seconds.to_le_bytes(), of.expires_unix_seconds.to_le_bytes());
        let (seed, version) = (of.seed.to_le_bytes(), of.suite.version.to_le_bytes());
        let mut parts: Vec<&[u8]> = vec![
            b"announcement",
            of.run_id.as_bytes(),
            &seed,
            of.suite.name.as_bytes(),
            &version,
            of.engine_version.as_bytes(),
            &created,
            &expires,
        ];
        parts.extend(network.as_ref().map(|network| network.as_bytes()));
        results::hex(&self.code(&parts))
    }

    /// Returns the deletion secret of an import with an idempotency key. Equal arguments give the same secret.
    pub(crate) fn import_secret(&self, idempotency_key: &str, fingerprint: &str) -> String {
        results::hex(&self.code(&[b"import", idempotency_key.as_bytes(), fingerprint.as_bytes()]))
    }

    /// Returns the id and deletion secret of a comparison with an idempotency key, equal for equal arguments.
    pub(crate) fn comparison(&self, idempotency_key: &str, digest: &str) -> (String, String) {
        let part = |what: &[u8]| results::hex(&self.code(&[what, idempotency_key.as_bytes(), digest.as_bytes()]));
        (part(b"comparison id")[..2 * RUN_ID_BYTES].to_owned(), part(b"comparison secret"))
    }

    /// Returns an unpredictable number from 0 to below 1, the same for the same parts.
    pub(crate) fn draw(&self, parts: &[&[u8]]) -> f64 {
        let code = self.code(parts);
        let bits = u64::from_le_bytes(code[..8].try_into().expect("a code has 32 bytes"));
        // As many bits as an `f64` can hold.
        (bits >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(super) fn code(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("a key of any length will do");
        for part in parts {
            // The length makes different lists of parts different bytes.
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }
}

fn read_or_make(file: &Path) -> Result<String> {
    let unwritable = |cause: io::Error| {
        let file = file.display();
        anyhow!("cannot write the secret to {file}: {cause}; specify another file with --secret-file")
    };
    match fs::metadata(file) {
        // A full disk can leave an empty file.
        Ok(found) if found.is_file() && found.len() == 0 => fs::remove_file(file).map_err(unwritable)?,
        Ok(_) => return read(file),
        Err(_) => {}
    }
    let text = random_word::<SECRET_BYTES>()
        .map_err(|cause| anyhow!("cannot create a secret, because the system provides no random numbers: {cause}"))?;
    match write(file, &text) {
        // Another server has just created it.
        Err(cause) if cause.kind() == ErrorKind::AlreadyExists => read(file),
        written => written.map(|()| text).map_err(unwritable),
    }
}

fn read(file: &Path) -> Result<String> {
    let mut text = String::new();
    let read = File::open(file).and_then(|file| file.take(MAX_BYTES).read_to_string(&mut text));
    read.with_context(|| format!("cannot read the secret file {}", file.display()))?;
    Ok(text)
}

/// Writes a new secret that only this user may read. The file gets its name after it is completely on the disk.
fn write(file: &Path, text: &str) -> io::Result<()> {
    let mut partial = partial(file)?;
    writeln!(partial, "{text}")?;
    partial.as_file().sync_all()?;
    partial.persist_noclobber(file)?;
    Ok(())
}

/// Derives the random words for the training of a workload.
pub(crate) struct TrainingKey<'a> {
    key: ServerKey,
    run_id: &'a str,
    workload: &'a str,
}

impl<'a> TrainingKey<'a> {
    /// `test_seed` is the fixed seed of test servers, which all derive the same words, so that runs can be replayed.
    pub(crate) fn new(key: &ServerKey, test_seed: Option<u32>, run_id: &'a str, workload: &'a str) -> Self {
        match test_seed {
            Some(seed) => Self { key: ServerKey::of_word(&format!("test seed {seed}")), run_id: "", workload },
            None => Self { key: key.clone(), run_id, workload },
        }
    }

    pub(crate) fn first_beacons(&self, lap: &SeenLap) -> [Beacon; 2] {
        let basis = [lap.state_sha256.as_bytes(), &lap.first_segment.to_le_bytes()];
        [0, 1].map(|place| self.beacon(lap.first_segment + place, &basis))
    }

    /// Returns the beacon of a segment from the final state hash of the segment two before it in the same lap.
    pub(crate) fn beacon_after(&self, two_before_sha256: &str, segment: u32) -> Beacon {
        self.beacon(segment, &[two_before_sha256.as_bytes()])
    }

    /// Returns a number from 0 to below 1 for a draw and the commitment that ended a segment.
    pub(super) fn draw_after(&self, segment: &SeenSegment, draw: u32) -> f64 {
        let (step, draw) = (segment.step.to_le_bytes(), draw.to_le_bytes());
        let [run_id, workload] = [self.run_id, self.workload].map(str::as_bytes);
        let hashes = [&segment.state_sha256, &segment.losses_sha256].map(|hash| hash.as_bytes());
        self.key.draw(&[b"segment", run_id, workload, &step, hashes[0], hashes[1], &draw])
    }

    /// Returns the word from which the draws inside segments are derived, from the hash of the last commitment.
    pub(crate) fn word_of_draws(&self, last_sha256: &str) -> String {
        let parts = [b"draw".as_slice(), self.run_id.as_bytes(), self.workload.as_bytes(), last_sha256.as_bytes()];
        results::hex(&self.key.code(&parts))
    }

    fn beacon(&self, segment: u32, basis: &[&[u8]]) -> Beacon {
        let parts = [b"beacon".as_slice(), self.run_id.as_bytes(), self.workload.as_bytes(), &segment.to_le_bytes()];
        let code = self.key.code(&[&parts, basis].concat());
        Beacon(std::array::from_fn(|place| code[place]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proof::testing::started;

    #[test]
    fn a_nonce_stands_for_everything_that_was_promised() {
        let key = ServerKey(b"of this server"[..].into());
        let nonce = key.nonce(&started("run"));
        assert_eq!(nonce, key.nonce(&started("run")));
        assert_eq!(nonce.len(), 64);
        let others = [
            Started { seed: 8, ..started("run") },
            Started { run_id: "1123456789abcdef".to_owned(), ..started("run") },
            Started { engine_version: "0.1.1".to_owned(), ..started("run") },
            Started { created_unix_seconds: 0.5, ..started("run") },
            Started { expires_unix_seconds: 1000.5, ..started("run") },
            Started { network: Some(Value::Null), ..started("run") },
        ];
        assert!(others.iter().all(|other| key.nonce(other) != nonce));
        assert_ne!(ServerKey(b"of another server"[..].into()).nonce(&started("run")), nonce);
    }

    #[test]
    fn parts_cannot_be_moved_from_one_to_the_next() {
        let key = ServerKey(b"some secret"[..].into());
        assert_ne!(key.code(&[b"ab", b"c"]), key.code(&[b"a", b"bc"]));
    }

    #[test]
    fn draws_are_spread_evenly() {
        let key = ServerKey(b"some secret"[..].into());
        let draws = (0..2000_u32).map(|i| key.draw(&[&i.to_le_bytes()]));
        assert!((draws.sum::<f64>() / 2000.0 - 0.5).abs() < 0.03);
    }

    #[test]
    fn empty_key_file_is_filled_and_short_one_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secret");
        fs::write(&file, "").unwrap();
        ServerKey::load(None, Some(&file)).unwrap();
        assert!(fs::read_to_string(&file).unwrap().trim().len() >= MIN_CHARACTERS);
        fs::write(&file, "guess").unwrap();
        let error = ServerKey::load(None, Some(&file)).err().unwrap().to_string();
        assert!(error.contains(&format!("in {} has 5 characters", file.display())), "{error}");
    }

    #[test]
    fn secret_is_created_once_and_readable_only_by_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secret");
        let first = ServerKey::load(None, Some(&file)).unwrap();
        assert_eq!(first.0, ServerKey::load(None, Some(&file)).unwrap().0);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        }
        let given = "0123456789abcdef0123456789abcdef";
        assert_ne!(first.0, ServerKey::load(Some(given), Some(&file)).unwrap().0);
        let refusal = |given, file: &Path| ServerKey::load(given, Some(file)).err().unwrap().to_string();
        assert!(refusal(Some("short"), &file).starts_with("the secret has 5 characters"));
        assert!(refusal(None, &folder.path().join("no/folder")).starts_with("cannot write the secret to "));
    }

    fn lap(first_segment: u32, state_sha256: &str) -> SeenLap {
        SeenLap { first_segment, state_sha256: state_sha256.to_owned(), opened_unix_seconds: 0.0 }
    }

    #[test]
    fn a_beacon_follows_from_all_that_came_before() {
        let (key, other_key) = (ServerKey::of_word("one"), ServerKey::of_word("another"));
        let of = |key, run_id, workload, first_segment, state_sha256| {
            TrainingKey::new(key, None, run_id, workload).first_beacons(&lap(first_segment, state_sha256))
        };
        let first = of(&key, "run", "network", 0, "a");
        assert_eq!(first, of(&key, "run", "network", 0, "a"));
        assert_ne!(first[0], first[1]);
        for other in [
            of(&other_key, "run", "network", 0, "a"),
            of(&key, "run2", "network", 0, "a"),
            of(&key, "run", "network2", 0, "a"),
            of(&key, "run", "network", 0, "b"),
            of(&key, "run", "network", 1, "a"),
        ] {
            assert!(other.iter().all(|beacon| !first.contains(beacon)));
        }
        let key = TrainingKey::new(&key, None, "run", "network");
        assert_ne!(key.beacon_after("a", 2), key.beacon_after("b", 2));
        assert_ne!(key.beacon_after("a", 2), key.beacon_after("a", 3));
        assert_ne!(key.word_of_draws("a"), key.word_of_draws("b"));
    }
}

//! Pseudonyms of submitters for one day: HMAC-SHA-256 (RFC 2104) of the address with the salt of the day, cut to 64
//! bits. The salt is random and deleted a day later. After that, addresses cannot be found by trying all, and
//! pseudonyms of different days cannot be linked.

use std::fmt;
use std::net::IpAddr;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::secrets::hex;

/// Size of the salt in bytes, equal to the hash, so that it cannot be guessed.
const SALT_BYTES: usize = 32;
/// Size of a pseudonym in bytes (16 hexadecimal digits), so that two submitters of a day never collide by chance.
const WORD_BYTES: usize = 8;

/// The secret of one day.
#[derive(Clone)]
pub(crate) struct SubmitterSalt([u8; SALT_BYTES]);

impl SubmitterSalt {
    /// Returns a new salt, or the error of the operating system's random numbers.
    pub(crate) fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; SALT_BYTES];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    pub(crate) fn to_hex(&self) -> String {
        hex(&self.0)
    }

    pub(crate) fn from_hex(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if digits.len() != 2 * SALT_BYTES || !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        let mut bytes = [0; SALT_BYTES];
        for (byte, place) in bytes.iter_mut().zip((0..).step_by(2)) {
            *byte = u8::from_str_radix(&text[place..place + 2], 16).ok()?;
        }
        Some(Self(bytes))
    }

    /// Returns the pseudonym of an address, 16 hexadecimal digits. Only the first 64 bits of an IPv6 address count,
    /// because a household has all the others (RFC 6177).
    pub(crate) fn word(&self, address: IpAddr) -> String {
        // Keys of any length are allowed, so this cannot fail.
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("a key of any length");
        match address.to_canonical() {
            IpAddr::V4(address) => mac.update(&address.octets()),
            IpAddr::V6(address) => mac.update(&address.octets()[..8]),
        }
        let digest = mac.finalize().into_bytes();
        hex(&digest[..WORD_BYTES])
    }
}

/// Hides the secret.
impl fmt::Debug for SubmitterSalt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SubmitterSalt(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(salt: u8, address: &str) -> String {
        SubmitterSalt([salt; SALT_BYTES]).word(address.parse().unwrap())
    }

    #[test]
    fn address_pseudonym_changes_daily() {
        let today = word(1, "192.0.2.7");
        assert_eq!(today, word(1, "192.0.2.7"));
        assert_ne!(today, word(2, "192.0.2.7"));
        assert_ne!(today, word(1, "192.0.2.8"));
        assert!(today.len() == 16 && today.bytes().all(|digit| digit.is_ascii_hexdigit()), "{today}");
    }

    #[test]
    fn a_household_is_one_submitter_however_its_address_ends() {
        let home = word(1, "2001:db8:1:2::1");
        assert_eq!(home, word(1, "2001:db8:1:2:ffff:eeee:dddd:cccc"));
        assert_ne!(home, word(1, "2001:db8:1:3::1"));
    }

    #[test]
    fn an_address_is_the_same_however_it_is_written() {
        assert_eq!(word(1, "::ffff:192.0.2.7"), word(1, "192.0.2.7"));
    }

    #[test]
    fn the_word_is_that_of_the_published_hash() {
        // Computed with Python: hmac.new(b"\x0b" * 32, bytes([192, 0, 2, 7]), "sha256").hexdigest()[:16].
        assert_eq!(word(0x0b, "192.0.2.7"), "00e7abac7523b410");
    }

    #[test]
    fn a_salt_is_kept_and_read_again() {
        let salt = SubmitterSalt::random().unwrap();
        let read = SubmitterSalt::from_hex(&salt.to_hex()).unwrap();
        assert_eq!(read.0, salt.0);
        for bad in [String::new(), "0".repeat(63), "g".repeat(64), "é".repeat(32)] {
            assert!(SubmitterSalt::from_hex(&bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn random_salts_differ_and_are_not_printed() {
        let [a, b] = [SubmitterSalt::random().unwrap(), SubmitterSalt::random().unwrap()];
        assert_ne!(a.0, b.0);
        assert_eq!(format!("{a:?}"), "SubmitterSalt(…)");
    }
}

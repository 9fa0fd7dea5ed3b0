//! Pseudonyms of submitters for one day: HMAC-SHA-256 (RFC 2104) of the address with the salt of the day, cut to 64
//! bits. The salt is random and deleted a day later. After that, addresses cannot be found by trying all, and
//! pseudonyms of different days cannot be linked.

use std::net::IpAddr;

use hmac::{Hmac, KeyInit, Mac};
use results::hex;
use sha2::Sha256;

/// Size of a pseudonym in bytes (16 hexadecimal digits), so that two submitters of a day never collide by chance.
const WORD_BYTES: usize = 8;

/// The secret of one day, without `Debug`, so that no log can contain it.
#[derive(Clone)]
pub(crate) struct SubmitterSalt(pub(crate) String);

impl SubmitterSalt {
    /// Returns the pseudonym of an address, 16 hexadecimal digits. Only the first 64 bits of an IPv6 address count,
    /// because a household has all the others (RFC 6177).
    pub(crate) fn word(&self, address: IpAddr) -> String {
        // The stored word is hexadecimal; the key is its bytes.
        let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
        let key: Vec<u8> = self.0.as_bytes().chunks(2).filter_map(byte).collect();
        // Keys of any length are allowed, so this cannot fail.
        let mut mac = Hmac::<Sha256>::new_from_slice(&key).expect("a key of any length");
        match address.to_canonical() {
            IpAddr::V4(address) => mac.update(&address.octets()),
            IpAddr::V6(address) => mac.update(&address.octets()[..8]),
        }
        hex(&mac.finalize().into_bytes()[..WORD_BYTES])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(salt: u8, address: &str) -> String {
        SubmitterSalt(format!("{salt:02x}").repeat(32)).word(address.parse().unwrap())
    }

    #[test]
    fn a_household_has_one_word_a_day_however_its_address_ends_or_is_written() {
        for (address, other) in [
            ("192.0.2.7", "192.0.2.7"),
            ("192.0.2.7", "::ffff:192.0.2.7"),
            ("2001:db8:1:2::1", "2001:db8:1:2:ffff:eeee:dddd:cccc"),
        ] {
            assert_eq!(word(1, address), word(1, other));
            assert_ne!(word(1, address), word(2, other));
        }
        for (address, other) in [("192.0.2.7", "192.0.2.8"), ("2001:db8:1:2::1", "2001:db8:1:3::1")] {
            assert_ne!(word(1, address), word(1, other));
        }
    }

    #[test]
    fn the_word_is_that_of_the_published_hash() {
        // Computed with Python: hmac.new(b"\x0b" * 32, bytes([192, 0, 2, 7]), "sha256").hexdigest()[:16].
        assert_eq!(word(0x0b, "192.0.2.7"), "00e7abac7523b410");
    }
}

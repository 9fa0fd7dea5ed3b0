//! The compact file: a 32-byte header, then one byte per pixel and channel, then one byte per label.
//!
//! Header, little-endian: `GMDS`, then u32 version (1), samples, height, width, channels, classes,
//! and a reserved zero. The crate `data-sets` writes it.

use sha2::{Digest, Sha256};

use super::{DataError, DataFile, Split};

const HEADER_BYTES: usize = 32;

/// The bytes become the images: a data set is large, and is never there twice.
pub(super) fn read(expected: &DataFile, bytes: Vec<u8>) -> Result<Split, DataError> {
    let file = || expected.file.clone();
    if bytes.len() as u64 != expected.bytes {
        return Err(DataError::WrongSize { file: file(), expected: expected.bytes, found: bytes.len() as u64 });
    }
    let found: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    if found != expected.sha256 {
        return Err(DataError::Altered { file: file(), expected: expected.sha256.clone(), found });
    }
    parse(expected, bytes).map_err(|reason| DataError::NotADataFile { file: file(), reason })
}

/// Reads header and body; the header must say what the definition says.
fn parse(expected: &DataFile, mut bytes: Vec<u8>) -> Result<Split, String> {
    let (header, body) = bytes.split_at_checked(HEADER_BYTES).ok_or("it is shorter than its header")?;
    if &header[..4] != b"GMDS" {
        return Err("it does not begin with GMDS".to_owned());
    }
    let word = |i: usize| u32::from_le_bytes([header[4 * i], header[4 * i + 1], header[4 * i + 2], header[4 * i + 3]]);
    let found = [word(1), word(2), word(3), word(4), word(5), word(6)];
    let wanted = [1, expected.samples, expected.height, expected.width, expected.channels, expected.classes];
    if found != wanted {
        return Err(format!("its header says {found:?} where {wanted:?} is expected"));
    }
    let samples = expected.samples as usize;
    let pixels = samples * expected.features() as usize;
    if body.len() != pixels + samples {
        return Err(format!("it holds {} bytes after the header, not {}", body.len(), pixels + samples));
    }
    let labels: Vec<u16> = body[pixels..].iter().copied().map(u16::from).collect();
    if let Some(label) = labels.iter().find(|&&label| u32::from(label) >= expected.classes) {
        return Err(format!("it holds the label {label}, but there are {} classes", expected.classes));
    }
    bytes.truncate(HEADER_BYTES + pixels);
    bytes.drain(..HEADER_BYTES);
    Ok(Split { images: bytes, labels })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two samples of one row, two columns and one channel.
    fn small() -> (DataFile, Vec<u8>) {
        let mut bytes = b"GMDS".to_vec();
        for word in [1u32, 2, 1, 2, 1, 10, 0] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend([1, 2, 3, 4, 7, 9]);
        let sha256 = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let definition = DataFile {
            set: "small".to_owned(),
            split: "train".to_owned(),
            file: "small-train.bin".to_owned(),
            samples: 2,
            height: 1,
            width: 2,
            channels: 1,
            classes: 10,
            bytes: bytes.len() as u64,
            sha256,
        };
        (definition, bytes)
    }

    #[test]
    fn a_good_file_is_split_into_images_and_labels() {
        let (definition, bytes) = small();
        assert_eq!(read(&definition, bytes), Ok(Split { images: vec![1, 2, 3, 4], labels: vec![7, 9] }));
    }

    #[test]
    fn a_truncated_file_is_named_with_both_sizes() {
        let (definition, bytes) = small();
        let error = read(&definition, bytes[..30].to_vec()).unwrap_err();
        assert_eq!(error, DataError::WrongSize { file: "small-train.bin".to_owned(), expected: 38, found: 30 });
        assert!(error.to_string().contains("cargo xtask data"));
    }

    #[test]
    fn an_altered_file_is_named() {
        let (definition, mut bytes) = small();
        bytes[33] ^= 1;
        assert!(matches!(read(&definition, bytes), Err(DataError::Altered { file, .. }) if file == "small-train.bin"));
    }

    #[test]
    fn a_header_that_says_something_else_is_refused() {
        let (mut definition, mut bytes) = small();
        bytes[4] = 2;
        definition.sha256 = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let error = read(&definition, bytes).unwrap_err();
        assert!(matches!(&error, DataError::NotADataFile { reason, .. } if reason.contains("header")), "{error}");
    }
}

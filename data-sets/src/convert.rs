//! Conversion of the published originals to the compact format that the server sends and the engine reads.
//!
//! A file is a header of 32 bytes, then the images, then one label byte per sample. The header is little-endian: the
//! letters `GMDS`, then the 32-bit numbers version (1), samples, height, width, channels, classes and 0. Images are
//! bytes in the order sample, row, column, channel; colors are red, green, blue. The samples of a text are characters,
//! each a byte with its class, and have no labels.

use crate::files::{md5_hex, sha256_hex, unpack};
use crate::sources::{Checksum, Original, Originals, PublishedSet, PublishedSplit, RegisteredFile, TextPart};
use anyhow::{Context, Result, ensure};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::Path;

const MAGIC: &[u8; 4] = b"GMDS";
const VERSION: u32 = 1;

/// Returns the bytes of these registered files of a source, made from the originals in its gzipped tar archive, which
/// must have their published checksums. Archives are read in memory, never unpacked to disk.
pub(crate) fn convert(archive: &Path, source: &PublishedSet, files: &[&RegisteredFile]) -> Result<Vec<Vec<u8>>> {
    let entries = unpack(archive, &source.paths())?;
    let convert = |file: &&RegisteredFile| {
        let split = source.splits.iter().find(|split| split.name == file.split);
        let split = split.with_context(|| format!("no source has the split {} of {}", file.split, file.set))?;
        let (images, labels) = images_and_labels(split, file, &entries)?;
        assemble(file, &images, labels.as_deref())
    };
    files.iter().map(convert).collect()
}

/// Returns the images of a split, each with its rows of pixels, and their labels, which a text does not have.
fn images_and_labels(
    split: &PublishedSplit,
    file: &RegisteredFile,
    entries: &BTreeMap<String, Vec<u8>>,
) -> Result<(Vec<u8>, Option<Vec<u8>>)> {
    match &split.originals {
        Originals::Idx { images, labels } => {
            let body = |original: &Original, shape: &[u32]| -> Result<Vec<u8>> {
                let bytes = &entries[original.path];
                expect_checksum(original, bytes)?;
                Ok(idx_body(bytes, shape).with_context(|| original.path.to_owned())?.to_vec())
            };
            Ok((body(images, &[file.samples, file.height, file.width])?, Some(body(labels, &[file.samples])?)))
        }
        Originals::Sheets { sheets, labels: path } => {
            let labels: Vec<u8> =
                serde_json::from_slice(&entries[*path]).with_context(|| format!("{path} is not a list of labels"))?;
            let (mut images, mut rest) = (Vec::new(), labels.iter().copied());
            for sheet in sheets {
                let (pixels, bytes) = sheet_pixels(&entries[sheet.path]).with_context(|| sheet.path.to_owned())?;
                expect_checksum(sheet, &batch_record_stream(pixels, &bytes, &mut rest)?)?;
                images.extend(bytes);
            }
            Ok((images, Some(labels)))
        }
        Originals::Text { text: original, part } => {
            let bytes = &entries[original.path];
            expect_checksum(original, bytes)?;
            let text = std::str::from_utf8(bytes).with_context(|| format!("{} is not UTF-8", original.path))?;
            Ok((encode(text, *part, file)?, None))
        }
    }
}

fn expect_checksum(original: &Original, bytes: &[u8]) -> Result<()> {
    let Original { path, checksum } = original;
    let (kind, published, found) = match checksum {
        Checksum::Md5(published) => ("MD5", published, md5_hex(bytes)),
        Checksum::Sha256(published) => ("SHA-256", published, sha256_hex(bytes)),
    };
    ensure!(found == *published, "{path} has {kind} {found}, but the published original has {published}");
    Ok(())
}

/// Returns the class of each character in a part of the text: its place in the alphabet, which must be the registered
/// one. The last class stands for all rare characters.
fn encode(text: &str, part: TextPart, file: &RegisteredFile) -> Result<Vec<u8>> {
    let RegisteredFile { file: name, classes, alphabet: registered, .. } = file;
    let frequent = frequent_characters(text, (*classes as usize).saturating_sub(1));
    let alphabet: String = frequent.iter().chain([&char::REPLACEMENT_CHARACTER]).collect();
    let registered = registered.as_deref().unwrap_or_default();
    ensure!(
        registered == alphabet,
        "the {classes} classes of {name} are {alphabet:?}, but reference/data-sets.json has {registered:?}: change the \
         conversion and the registry together"
    );
    let characters = text.chars().count();
    let training = characters - characters / 10;
    let (skipped, taken) = match part {
        TextPart::AllButLastTenth => (0, training),
        TextPart::LastTenth => (training, characters / 10),
    };
    let class = |character| frequent.binary_search(&character).unwrap_or(frequent.len());
    let part = text.chars().skip(skipped).take(taken);
    part.map(|character| u8::try_from(class(character)).context("a class has one byte")).collect()
}

/// Returns the `count` most frequent characters of a text, sorted by code point. Of equally frequent characters, those
/// with lower code points are kept.
fn frequent_characters(text: &str, count: usize) -> Vec<char> {
    let mut counts = BTreeMap::new();
    for character in text.chars() {
        *counts.entry(character).or_insert(0) += 1;
    }
    let mut characters: Vec<(char, u32)> = counts.into_iter().collect();
    characters.sort_unstable_by_key(|&(character, count)| (Reverse(count), character));
    let mut frequent: Vec<char> = characters.into_iter().map(|(character, _)| character).take(count).collect();
    frequent.sort_unstable();
    frequent
}

/// Rebuilds a published binary batch of CIFAR-10 from its sheet with `pixels` pixels per row. Each sample has its label,
/// then all red, all green and all blue values. Takes one label per sample.
fn batch_record_stream(pixels: usize, sheet: &[u8], labels: &mut impl Iterator<Item = u8>) -> Result<Vec<u8>> {
    let mut stream = Vec::new();
    for row in sheet.chunks_exact(3 * pixels) {
        stream.push(labels.next().context("the archive has fewer labels than images")?);
        for channel in 0..3 {
            stream.extend(row.iter().skip(channel).step_by(3));
        }
    }
    Ok(stream)
}

/// Returns the bytes of a file. Without labels, each image is a byte with its own class.
fn assemble(file: &RegisteredFile, images: &[u8], labels: Option<&[u8]>) -> Result<Vec<u8>> {
    let RegisteredFile { file: name, samples, height, width, channels, classes, .. } = file;
    let image = *height as usize * *width as usize * *channels as usize;
    let (sample_classes, labels) = (labels.unwrap_or(images), labels.unwrap_or_default());
    ensure!(
        images.len() == *samples as usize * image && sample_classes.len() == *samples as usize,
        "{name} should hold {samples} samples, but its originals hold {} bytes of images and {} labels",
        images.len(),
        sample_classes.len()
    );
    let highest = sample_classes.iter().copied().max().unwrap_or(0);
    ensure!(u32::from(highest) < *classes, "{name} has the label {highest} of {classes} classes");
    let mut bytes = Vec::with_capacity(32 + images.len() + labels.len());
    bytes.extend_from_slice(MAGIC);
    for number in [VERSION, *samples, *height, *width, *channels, *classes, 0] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes.extend_from_slice(images);
    bytes.extend_from_slice(labels);
    Ok(bytes)
}

/// Returns the body of an IDX file of unsigned bytes with these dimensions.
fn idx_body<'a>(bytes: &'a [u8], shape: &[u32]) -> Result<&'a [u8]> {
    const UNSIGNED_BYTES: u8 = 8;
    let header = 4 + 4 * shape.len();
    ensure!(bytes.len() >= header, "an IDX file of {} bytes is shorter than its header", bytes.len());
    let dimensions = u8::try_from(shape.len())?;
    ensure!(bytes[..4] == [0, 0, UNSIGNED_BYTES, dimensions], "this is not an IDX file of {dimensions} dimensions");
    let (sides, _) = bytes[4..header].as_chunks::<4>();
    let found: Vec<u32> = sides.iter().map(|side| u32::from_be_bytes(*side)).collect();
    ensure!(found == shape, "the IDX file has the shape {found:?}, not {shape:?}");
    let body = &bytes[header..];
    let expected: usize = shape.iter().map(|&side| side as usize).product();
    ensure!(body.len() == expected, "the IDX file has {} bytes after its header, not {expected}", body.len());
    Ok(body)
}

/// Decodes a sheet. Returns the pixels per row, and the RGB bytes.
fn sheet_pixels(png: &[u8]) -> Result<(usize, Vec<u8>)> {
    let mut reader = png::Decoder::new(Cursor::new(png)).read_info()?;
    let info = reader.info();
    let (samples, pixels, format) = (info.height as usize, info.width as usize, (info.color_type, info.bit_depth));
    let is_rgb = format == (png::ColorType::Rgb, png::BitDepth::Eight);
    ensure!(is_rgb, "the sheet has the format {format:?}, not 8-bit RGB");
    let mut bytes = vec![0; samples * pixels * 3];
    reader.next_frame(&mut bytes)?;
    Ok((pixels, bytes))
}

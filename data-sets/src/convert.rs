//! Conversion of the published originals to the compact format that the server sends and the engine reads.
//!
//! A file is a header of 32 bytes, then the images, then one label byte per sample. The header is little-endian: the
//! letters `GMDS`, then the 32-bit numbers version (1), samples, height, width, channels, classes and 0. Images are
//! bytes in the order sample, row, column, channel; colors are red, green, blue.

use crate::files::{md5_hex, unpack};
use crate::sources::{Original, Originals, PublishedSet, PublishedSplit, RegisteredFile};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::Path;

const MAGIC: &[u8; 4] = b"GMDS";
const VERSION: u32 = 1;

/// Returns the bytes of these registered files of a source, made from the originals in its gzipped tar archive, which
/// must have their published MD5 sums. Archives are read in memory, never unpacked to disk.
pub(crate) fn convert(archive: &Path, source: &PublishedSet, files: &[&RegisteredFile]) -> Result<Vec<Vec<u8>>> {
    let entries = unpack(archive, &source.paths())?;
    let convert = |file: &&RegisteredFile| {
        let split = source.splits.iter().find(|split| split.name == file.split);
        let split = split.with_context(|| format!("no source has the split {} of {}", file.split, file.set))?;
        let (images, labels) = images_and_labels(split, file, &entries)?;
        assemble(file, &images, &labels)
    };
    files.iter().map(convert).collect()
}

/// Returns the images, each with its rows of pixels, and the labels of a split.
fn images_and_labels(
    split: &PublishedSplit,
    file: &RegisteredFile,
    entries: &BTreeMap<String, Vec<u8>>,
) -> Result<(Vec<u8>, Vec<u8>)> {
    match &split.originals {
        Originals::Idx { images, labels } => {
            let body = |original: &Original, shape: &[u32]| -> Result<Vec<u8>> {
                let bytes = &entries[original.path];
                expect_md5(original, bytes)?;
                Ok(idx_body(bytes, shape).with_context(|| original.path.to_owned())?.to_vec())
            };
            Ok((body(images, &[file.samples, file.height, file.width])?, body(labels, &[file.samples])?))
        }
        Originals::Sheets { sheets, labels: path } => {
            let labels: Vec<u8> =
                serde_json::from_slice(&entries[*path]).with_context(|| format!("{path} is not a list of labels"))?;
            let (mut images, mut rest) = (Vec::new(), labels.iter().copied());
            for sheet in sheets {
                let (pixels, bytes) = sheet_pixels(&entries[sheet.path]).with_context(|| sheet.path.to_owned())?;
                expect_md5(sheet, &batch_record_stream(pixels, &bytes, &mut rest)?)?;
                images.extend(bytes);
            }
            Ok((images, labels))
        }
    }
}

fn expect_md5(original: &Original, bytes: &[u8]) -> Result<()> {
    let found = md5_hex(bytes);
    let Original { path, md5 } = original;
    ensure!(found == *md5, "{path} has MD5 {found}, but the published original has {md5}");
    Ok(())
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

fn assemble(file: &RegisteredFile, images: &[u8], labels: &[u8]) -> Result<Vec<u8>> {
    let RegisteredFile { file: name, samples, height, width, channels, classes, .. } = file;
    let image = *height as usize * *width as usize * *channels as usize;
    ensure!(
        images.len() == *samples as usize * image && labels.len() == *samples as usize,
        "{name} should hold {samples} samples, but its originals hold {} bytes of images and {} labels",
        images.len(),
        labels.len()
    );
    let highest = labels.iter().copied().max().unwrap_or(0);
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

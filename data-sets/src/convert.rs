//! From the published originals to the one compact format that the server sends and the engine reads.
//!
//! A file is a header of 32 bytes, then the images, then one label byte per sample. The header is little-endian: the
//! letters `GMDS`, then the 32-bit numbers version (1), samples, height, width, channels, classes and 0. Images are
//! bytes in the order sample, row, column, channel; colours are red, green, blue.

use crate::archive::Entries;
use crate::registry::DataFile;
use crate::sources::{Originals, Source};
use anyhow::{Context, Result, bail, ensure};
use std::io::Cursor;

const MAGIC: &[u8; 4] = b"GMDS";
const VERSION: u32 = 1;

/// The bytes of one registered file, made from the originals of its source.
pub(crate) fn convert(source: &Source, file: &DataFile, entries: &Entries) -> Result<Vec<u8>> {
    let split = source
        .splits
        .iter()
        .find(|split| split.name == file.split)
        .with_context(|| format!("no source has the split {} of {}", file.split, file.set))?;
    let (images, labels) = match &split.originals {
        Originals::Idx { images, labels } => {
            let shape = [file.samples, file.height, file.width];
            let images = idx_body(entries.get(images.path)?, &shape).with_context(|| images.path.to_owned())?;
            let labels =
                idx_body(entries.get(labels.path)?, &[file.samples]).with_context(|| labels.path.to_owned())?;
            (images.to_vec(), labels.to_vec())
        }
        Originals::Sheets { sheets, labels } => {
            let mut images = Vec::new();
            for sheet in sheets {
                images.extend(sheet_pixels(entries.get(sheet.path)?).with_context(|| sheet.path.to_owned())?.bytes);
            }
            (images, entries.labels(labels)?)
        }
    };
    assemble(file, &images, &labels)
}

fn assemble(file: &DataFile, images: &[u8], labels: &[u8]) -> Result<Vec<u8>> {
    let image = file.height as usize * file.width as usize * file.channels as usize;
    ensure!(
        images.len() == file.samples as usize * image && labels.len() == file.samples as usize,
        "{} should hold {} samples, but its originals hold {} bytes of images and {} labels",
        file.file,
        file.samples,
        images.len(),
        labels.len()
    );
    let highest = labels.iter().copied().max().unwrap_or(0);
    ensure!(u32::from(highest) < file.classes, "{} has the label {highest} of {} classes", file.file, file.classes);
    let mut bytes = Vec::with_capacity(32 + images.len() + labels.len());
    bytes.extend_from_slice(MAGIC);
    for number in [VERSION, file.samples, file.height, file.width, file.channels, file.classes, 0] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes.extend_from_slice(images);
    bytes.extend_from_slice(labels);
    Ok(bytes)
}

/// The body of an IDX file of unsigned bytes whose dimensions must be these.
fn idx_body<'a>(bytes: &'a [u8], shape: &[u32]) -> Result<&'a [u8]> {
    const UNSIGNED_BYTES: u8 = 8;
    let header = 4 + 4 * shape.len();
    ensure!(bytes.len() >= header, "an IDX file of {} bytes is shorter than its header", bytes.len());
    let dimensions = u8::try_from(shape.len())?;
    ensure!(bytes[..4] == [0, 0, UNSIGNED_BYTES, dimensions], "this is not an IDX file of {dimensions} dimensions");
    let found: Vec<u32> =
        bytes[4..header].chunks_exact(4).map(|word| u32::from_be_bytes([word[0], word[1], word[2], word[3]])).collect();
    ensure!(found == shape, "the IDX file has the shape {found:?}, not {shape:?}");
    let body = &bytes[header..];
    let expected: usize = shape.iter().map(|&side| side as usize).product();
    ensure!(body.len() == expected, "the IDX file has {} bytes after its header, not {expected}", body.len());
    Ok(body)
}

/// A decoded sheet: `samples` rows of `pixels` RGB pixels.
pub(crate) struct Sheet {
    pub samples: usize,
    pub pixels: usize,
    pub bytes: Vec<u8>,
}

pub(crate) fn sheet_pixels(png: &[u8]) -> Result<Sheet> {
    let mut reader = png::Decoder::new(Cursor::new(png)).read_info()?;
    let info = reader.info();
    let (samples, pixels) = (info.height as usize, info.width as usize);
    let format = (info.color_type, info.bit_depth);
    if format != (png::ColorType::Rgb, png::BitDepth::Eight) {
        bail!("the sheet has the format {format:?}, not 8-bit RGB");
    }
    let mut bytes = vec![0; samples * pixels * 3];
    reader.next_frame(&mut bytes)?;
    Ok(Sheet { samples, pixels, bytes })
}

//! Conversion of the published originals to the compact format that the server sends and the engine reads.
//!
//! A file is a header of 32 bytes, then the images, then one label byte per sample. The header is little-endian: the
//! letters `GMDS`, then the 32-bit numbers version (1), samples, height, width, channels, classes and 0. Images are
//! bytes in the order sample, row, column, channel; colors are red, green, blue.

use crate::files::md5_hex;
use crate::sources::{DataFile, Original, Originals, Source};
use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Cursor, Read};
use std::path::Path;

const MAGIC: &[u8; 4] = b"GMDS";
const VERSION: u32 = 1;

/// Needed files of an archive, by path in the archive. Archives are read in memory, never unpacked to disk.
#[derive(Debug)]
pub(crate) struct Entries(BTreeMap<String, Vec<u8>>);

impl Entries {
    fn get(&self, path: &str) -> Result<&[u8]> {
        self.0.get(path).map(Vec::as_slice).with_context(|| format!("{path} is not in the archive"))
    }

    fn labels(&self, path: &str) -> Result<Vec<u8>> {
        serde_json::from_slice(self.get(path)?).with_context(|| format!("{path} is not a list of labels"))
    }
}

/// Reads the originals of a source from its gzipped tar archive, and verifies their published MD5 sums.
pub(crate) fn originals(archive: &Path, source: &Source) -> Result<Entries> {
    unpack(archive, source).and_then(|entries| verify(source, entries))
}

fn unpack(archive: &Path, source: &Source) -> Result<Entries> {
    let wanted = source.paths();
    let file = File::open(archive).with_context(|| format!("cannot open {}", archive.display()))?;
    let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(BufReader::new(file)));
    let mut entries = BTreeMap::new();
    for entry in tar.entries()? {
        let mut entry = entry?;
        let path = entry.path()?.to_string_lossy().into_owned();
        if wanted.contains(&path.as_str()) {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).with_context(|| format!("{path} ends early"))?;
            entries.insert(path, bytes);
        }
    }
    match wanted.iter().find(|path| !entries.contains_key(**path)) {
        Some(missing) => bail!("{missing} is not in the archive"),
        None => Ok(Entries(entries)),
    }
}

/// Returns the entries if every original has its published MD5 sum.
fn verify(source: &Source, entries: Entries) -> Result<Entries> {
    for split in &source.splits {
        match &split.originals {
            Originals::Idx { images, labels } => {
                for original in [images, labels] {
                    expect_md5(original, &md5_hex(entries.get(original.path)?))?;
                }
            }
            Originals::Sheets { sheets, labels } => {
                let mut labels = entries.labels(labels)?.into_iter();
                for sheet in sheets {
                    let stream = batch_record_stream(entries.get(sheet.path)?, &mut labels)
                        .with_context(|| format!("{} cannot be read", sheet.path))?;
                    expect_md5(sheet, &md5_hex(&stream))?;
                }
            }
        }
    }
    Ok(entries)
}

fn expect_md5(original: &Original, found: &str) -> Result<()> {
    if found != original.md5 {
        bail!("{} has MD5 {found}, but the published original has {}", original.path, original.md5);
    }
    Ok(())
}

/// Rebuilds a published binary batch of CIFAR-10 from its sheet. Each sample has its label, then all red, all green and
/// all blue values. Takes one label per sample.
fn batch_record_stream(png: &[u8], labels: &mut impl Iterator<Item = u8>) -> Result<Vec<u8>> {
    let sheet = sheet_pixels(png)?;
    let mut stream = Vec::with_capacity(sheet.samples * (1 + 3 * sheet.pixels));
    for row in sheet.bytes.chunks_exact(3 * sheet.pixels) {
        stream.push(labels.next().context("the archive has fewer labels than images")?);
        for channel in 0..3 {
            stream.extend(row.iter().skip(channel).step_by(3));
        }
    }
    Ok(stream)
}

/// Returns the bytes of one registered file, made from the originals of its source.
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

/// Returns the body of an IDX file of unsigned bytes with these dimensions.
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
struct Sheet {
    samples: usize,
    pixels: usize,
    bytes: Vec<u8>,
}

fn sheet_pixels(png: &[u8]) -> Result<Sheet> {
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

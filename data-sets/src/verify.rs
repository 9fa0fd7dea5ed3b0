//! Whether an archive holds the published originals.

use crate::archive::Entries;
use crate::convert::sheet_pixels;
use crate::files::md5_hex;
use crate::sources::{Original, Originals, Source};
use anyhow::{Context, Result, bail};

/// Passes the entries on when every original has its published MD5 sum.
pub(crate) fn verify(source: &Source, entries: Entries) -> Result<Entries> {
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

/// Rebuilds a published binary batch of CIFAR-10 from its sheet: for each sample its label, then all red, all green
/// and all blue values. Takes one label per sample.
pub(crate) fn batch_record_stream(png: &[u8], labels: &mut impl Iterator<Item = u8>) -> Result<Vec<u8>> {
    let sheet = sheet_pixels(png)?;
    let mut stream = Vec::with_capacity(sheet.samples * (1 + 3 * sheet.pixels));
    for row in sheet.bytes.chunks_exact(3 * sheet.pixels) {
        stream.push(labels.next().context("there are fewer labels than images")?);
        for channel in 0..3 {
            stream.extend(row.iter().skip(channel).step_by(3));
        }
    }
    Ok(stream)
}

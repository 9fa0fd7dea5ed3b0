//! axe-core, with which the browser tests look for what keeps people out of the page: one script of its npm package, which
//! is kept in the user's cache. It is used as it is, and is no part of what is built.

use crate::{data, say, workspace};
use anyhow::{Context, Result, bail, ensure};
use data_sets::files::{sha256_hex, temporary_name, write_whole};
use data_sets::{Download, Package};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

const PACKAGE: Package = Package { name: "axe-core", version: "4.14.0" };
const SCRIPT: &str = "package/axe.min.js";
const SHA256: &str = "20c09fe157a8a34a30e241aaa1fcdade657734f08ab379ecfbeb7d45cc46e878";

/// Where the script lies; none, with a warning, where it cannot be fetched: then the tests that need it say that they are
/// skipped.
pub(super) fn script() -> Option<PathBuf> {
    match workspace::cache().and_then(|folder| script_in(&folder, &data::programs())) {
        Ok(script) => Some(script),
        Err(error) => {
            say::warn(format!("axe-core does not look at the page: {error:#}"));
            None
        }
    }
}

fn script_in(folder: &Path, programs: &impl Download) -> Result<PathBuf> {
    let script = folder.join(format!("{}-{}.js", PACKAGE.name, PACKAGE.version));
    if fs::read(&script).is_ok_and(|text| sha256_hex(&text) == SHA256) {
        return Ok(script);
    }
    say::step("Fetching", format!("{PACKAGE} for the browser tests"));
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let archive = temporary_name(&folder.join(PACKAGE.archive_name()));
    let unpacked = programs.download(&PACKAGE, &archive).and_then(|()| unpack(&archive));
    // What stays behind is only in the way when it can be removed later.
    let _ = fs::remove_file(&archive);
    let text = unpacked.with_context(|| format!("cannot get {PACKAGE}"))?;
    ensure!(sha256_hex(&text) == SHA256, "{SCRIPT} of {PACKAGE} is not the one that was published");
    write_whole(&script, |out| Ok(out.write_all(&text)?))?;
    Ok(script)
}

fn unpack(archive: &Path) -> Result<Vec<u8>> {
    let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(File::open(archive)?));
    for entry in tar.entries()? {
        let mut entry = entry?;
        if entry.path()? == Path::new(SCRIPT) {
            let mut text = Vec::new();
            entry.read_to_end(&mut text)?;
            return Ok(text);
        }
    }
    bail!("the archive lacks {SCRIPT}");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An archive with one file of these bytes.
    struct Archive {
        file: &'static str,
        text: &'static [u8],
    }

    impl Download for Archive {
        fn download(&self, _: &Package, to: &Path) -> Result<()> {
            let compressed = flate2::write::GzEncoder::new(File::create(to)?, flate2::Compression::fast());
            let mut tar = tar::Builder::new(compressed);
            let mut header = tar::Header::new_gnu();
            header.set_size(self.text.len() as u64);
            header.set_mode(0o644);
            tar.append_data(&mut header, self.file, self.text)?;
            tar.into_inner()?.finish()?;
            Ok(())
        }
    }

    #[test]
    fn what_is_not_the_published_script_is_refused_and_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        for (archive, reason) in [
            (Archive { file: SCRIPT, text: b"alert()" }, "is not the one that was published"),
            (Archive { file: "package/README.md", text: b"axe" }, "the archive lacks package/axe.min.js"),
        ] {
            let error = format!("{:#}", script_in(folder.path(), &archive).unwrap_err());
            assert!(error.contains(reason), "{error}");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }
}

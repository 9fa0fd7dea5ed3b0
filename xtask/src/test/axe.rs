//! axe-core, with which browser tests find accessibility problems: one script of an npm package, kept in the user's cache.

use crate::{data, say, workspace};
use anyhow::{Context, Result, ensure};
use data_sets::files::{sha256_hex, temporary_name, write_whole};
use data_sets::{Download, Package};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

const PACKAGE: Package = Package { name: "axe-core", version: "4.14.0" };
const SCRIPT: &str = "package/axe.min.js";
const SHA256: &str = "20c09fe157a8a34a30e241aaa1fcdade657734f08ab379ecfbeb7d45cc46e878";

/// Returns the path of the script. If it cannot be downloaded, warns: the tests that need it report that they are
/// skipped.
pub(super) fn script() -> Option<PathBuf> {
    find_script().inspect_err(|error| say::warn(format!("accessibility is not tested: {error:#}"))).ok()
}

fn find_script() -> Result<PathBuf> {
    let script = workspace::cache()?.join(format!("{}-{}.js", PACKAGE.name, PACKAGE.version));
    if fs::read(&script).is_ok_and(|text| sha256_hex(&text) == SHA256) {
        return Ok(script);
    }
    say::step("Fetching", format!("{PACKAGE} for the browser tests"));
    let archive = temporary_name(&script);
    fs::create_dir_all(workspace::cache()?).context("cannot make the cache folder")?;
    let text = data::programs().download(&PACKAGE, &archive).and_then(|()| unpack(&archive));
    // A temporary file that cannot be removed does no harm.
    let _ = fs::remove_file(&archive);
    save(&text.with_context(|| format!("cannot get {PACKAGE}"))?, &script)?;
    Ok(script)
}

fn unpack(archive: &Path) -> Result<Vec<u8>> {
    let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(File::open(archive)?));
    let mut text = Vec::new();
    for entry in tar.entries()? {
        let mut entry = entry?;
        if entry.path()? == Path::new(SCRIPT) {
            entry.read_to_end(&mut text)?;
        }
    }
    Ok(text)
}

/// Writes the script if it is the published one.
fn save(text: &[u8], script: &Path) -> Result<()> {
    ensure!(sha256_hex(text) == SHA256, "{SCRIPT} of {PACKAGE} is not the published one");
    write_whole(script, |out| Ok(out.write_all(text)?))
}

#[cfg(test)]
#[test]
fn refuses_a_script_that_is_not_the_published_one() {
    let script = std::env::temp_dir().join("gradmark-axe-test.js");
    assert!(save(b"alert()", &script).unwrap_err().to_string().contains("is not the published one"));
    assert!(!script.exists());
}

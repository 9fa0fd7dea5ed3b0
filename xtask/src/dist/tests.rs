use super::*;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;

/// A folder that looks like a checkout to `common`.
fn checkout() -> tempfile::TempDir {
    let top = tempfile::tempdir().unwrap();
    for file in [
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "packaging/server/README.md",
        "packaging/server/systemd/gradmark.service",
        "page/index.html",
        "page/snippets/b.js",
        "data/mnist-train.bin",
        "data/.verified.json",
    ] {
        let path = top.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("this is {file}")).unwrap();
    }
    top
}

fn archive(top: &Path) -> Archive {
    let mut archive = common(top, "gradmark-server-1.2.3-moon".to_owned(), "packaging/server").unwrap();
    archive.program("leaderboard", b"a program".to_vec());
    archive.folder("page", &top.join("page")).unwrap();
    archive.folder("data", &top.join("data")).unwrap();
    archive
}

fn packed(top: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    archive(top).write(&mut bytes, 1_700_000_000).unwrap();
    bytes
}

#[test]
fn an_archive_has_one_folder_of_its_own_name_and_everything_in_it() {
    let top = checkout();
    let bytes = packed(top.path());
    let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(bytes.as_slice()));
    let mut found = BTreeMap::new();
    for entry in tar.entries().unwrap() {
        let mut entry = entry.unwrap();
        let mut text = String::new();
        entry.read_to_string(&mut text).unwrap();
        let (header, path) = (entry.header(), entry.path().unwrap().to_string_lossy().into_owned());
        assert_eq!((header.uid().unwrap(), header.gid().unwrap(), header.mtime().unwrap()), (0, 0, 1_700_000_000));
        let place = path.strip_prefix("gradmark-server-1.2.3-moon/").expect(&path).to_owned();
        found.insert(place, (header.mode().unwrap(), text));
    }
    let leaderboard = format!("leaderboard{}", std::env::consts::EXE_SUFFIX);
    let mut expected = vec![
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "README.md",
        "data/mnist-train.bin",
        &leaderboard,
        "page/index.html",
        "page/snippets/b.js",
        "systemd/gradmark.service",
    ];
    expected.sort_unstable();
    assert_eq!(found.keys().map(String::as_str).collect::<Vec<_>>(), expected);
    assert_eq!(found[&leaderboard], (0o755, "a program".to_owned()));
    assert_eq!(found["page/index.html"], (0o644, "this is page/index.html".to_owned()));
}

#[test]
fn the_same_contents_give_the_same_bytes_whoever_wrote_them_and_when() {
    let (one, other) = (checkout(), checkout());
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(86_400);
    fs::File::options().write(true).open(other.path().join("page/index.html")).unwrap().set_modified(later).unwrap();
    assert_eq!(packed(one.path()), packed(other.path()));
    fs::write(other.path().join("page/index.html"), "another page").unwrap();
    assert_ne!(packed(one.path()), packed(other.path()));
}

#[test]
fn the_digest_beside_an_archive_is_its_own() {
    let top = checkout();
    let out = top.path().join("out");
    write(&out, &archive(top.path()), 0).unwrap();
    let name = "gradmark-server-1.2.3-moon.tar.gz";
    let digest = data_sets::files::sha256_hex(&fs::read(out.join(name)).unwrap());
    assert_eq!(fs::read_to_string(out.join(format!("{name}.sha256"))).unwrap(), format!("{digest}  {name}\n"));
}

#[test]
fn what_is_missing_is_named() {
    let top = checkout();
    fs::remove_file(top.path().join("LICENSE-MIT")).unwrap();
    let error = format!("{:#}", write(&top.path().join("out"), &archive(top.path()), 0).unwrap_err());
    assert!(error.contains("cannot pack") && error.contains("LICENSE-MIT"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_stripped_program_still_runs_and_the_one_it_was_made_from_stays_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    // This very test program: big, and with symbols.
    let program = folder.path().join("program");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let before = fs::read(&program).unwrap();
    let stripped = programs::stripped(&program).unwrap();
    assert!(stripped.len() < before.len(), "{} of {} bytes", stripped.len(), before.len());
    assert_eq!(fs::read(&program).unwrap(), before);
    assert_eq!(files_below(folder.path()).unwrap(), std::slice::from_ref(&program));
    fs::write(&program, stripped).unwrap();
    assert!(!programs::said_by(&program, &["--list"]).unwrap().is_empty());
}

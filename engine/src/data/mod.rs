//! Data set definitions ([`DATA_SETS`]) and the reader of their compact files.
//!
//! A compact file, from the crate `data-sets`, has a header of 32 bytes, a byte per pixel and channel, and a byte per
//! label. The header is little-endian: `GMDS`, then u32 version (1), samples, height, width, channels, classes, and 0. A
//! text has a byte per character and no labels.

pub mod statistics;
mod stories;

use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use shaders::reference::pcg4d::pcg4d;

use crate::random::{Generator, stream};

use statistics::Statistics;
use stories::{Encoding, QUESTIONS};
pub use stories::{Reading, StorySet, StoryTask};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// One byte per sample, row, column and channel, in row-major order. Of a text, one per character.
    pub images: Vec<u8>,
    /// Class of each sample. Of a text, the characters again.
    pub labels: Vec<u16>,
}

impl Split {
    pub fn samples(&self) -> u32 {
        u32::try_from(self.labels.len()).unwrap_or(u32::MAX)
    }

    /// Creates the split of a text, in which each character is its own class.
    pub fn text(characters: impl IntoIterator<Item = u8>) -> Self {
        let images: Vec<u8> = characters.into_iter().collect();
        Self { labels: images.iter().copied().map(u16::from).collect(), images }
    }

    /// Returns the share of the samples in the most frequent class.
    pub fn chance_accuracy(&self) -> f64 {
        let classes = self.labels.iter().max().map_or(0, |&last| usize::from(last) + 1);
        let mut counts = vec![0_u32; classes];
        self.labels.iter().for_each(|&label| counts[usize::from(label)] += 1);
        let most = counts.into_iter().max().unwrap_or_default();
        f64::from(most) / f64::from(self.samples().max(1))
    }
}

#[derive(Clone, Debug)]
pub struct DataSet {
    pub definition: &'static DataSetDefinition,
    pub train: Split,
    pub test: Split,
    /// True if the samples are generated rather than published.
    pub generated: bool,
    statistics: Statistics,
}

impl DataSet {
    pub fn new(definition: &'static DataSetDefinition, train: Split, test: Split, generated: bool) -> Self {
        Self { definition, train, test, generated, statistics: Statistics::default() }
    }

    /// Reads the training and test files of `set`. Fails if a file is truncated, altered or of another kind.
    pub fn from_files(set: &'static DataSetDefinition, train: Vec<u8>, test: Vec<u8>) -> Result<Self, DataError> {
        let [train, test] = match &set.origin {
            Origin::Files { train: train_file, test: test_file }
            | Origin::Text { train: train_file, test: test_file, .. } => {
                [read_compact_file(train_file, train)?, read_compact_file(test_file, test)?]
            }
            Origin::Stories(stories) => stories::read(*stories, &train, &test)?,
            Origin::Images { .. } => {
                let reason = "this set is always generated and has no file".to_owned();
                return Err(DataError::NotADataFile { file: set.name.clone(), reason });
            }
        };
        Ok(Self::new(set, train, test, false))
    }

    /// Generates the samples from a fixed seed. Returns `None` for sets that exist only as files.
    pub fn generated(definition: &'static DataSetDefinition) -> Option<Self> {
        let [train, test] = match definition.origin {
            Origin::Files { .. } | Origin::Text { .. } => return None,
            Origin::Stories(stories) => stories::generated(stories),
            Origin::Images { .. } => generate_images(definition),
        };
        Some(Self::new(definition, train, test, true))
    }

    /// Generates noise in the shape of any set, to measure the speed of training without its files.
    pub fn noise(definition: &'static DataSetDefinition) -> Self {
        let [train, test] = generate_images(definition);
        let [train, test] = if definition.is_text() {
            [(train, definition.train.classes), (test, definition.test.classes)].map(|(noise, classes)| {
                Split::text(noise.images.into_iter().map(|byte| u8::try_from(u32::from(byte) % classes).unwrap_or(0)))
            })
        } else {
            [train, test]
        };
        Self::new(definition, train, test, true)
    }
}

/// Source of data sets, such as files, a server or memory.
#[async_trait(?Send)]
pub trait DataSource {
    async fn load(&mut self, definition: &'static DataSetDefinition) -> Result<Arc<DataSet>, DataError>;
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DataError {
    #[error(
        "{file} is missing in {place}; `native-runner fetch-data` or, in a checkout, `cargo xtask data` fetches it"
    )]
    Missing { file: String, place: String },
    #[error("{file} could not be read: {reason}")]
    Unreadable { file: String, reason: String },
    #[error(
        "{file} has {found} bytes where {expected} are expected, so it is truncated or another file; `cargo xtask \
         data` fetches it again"
    )]
    WrongSize { file: String, expected: u64, found: u64 },
    #[error("{file} was altered: its SHA-256 is {found}, not {expected}; `cargo xtask data` fetches it again")]
    Altered { file: String, expected: String, found: String },
    #[error("{file} is not a data file of Gradmark: {reason}; `cargo xtask data` fetches it again")]
    NotADataFile { file: String, reason: String },
    #[error(
        "{file} is missing in {place}; set this folder to `en` of the published bAbI archive, which has the files of \
         1,000 training questions (with `en-10k` next to it)"
    )]
    NoStories { file: String, place: String },
    #[error("{file}, line {line}: {reason}; the published file has no such line")]
    BadLine { file: String, line: u32, reason: String },
    #[error("{file} is not the published file of this task: {reason}")]
    NotStories { file: String, reason: String },
}

impl DataError {
    /// Removes local folder names, which may contain a user name.
    pub(crate) fn without_folders(&self) -> Self {
        let mut error = self.clone();
        match &mut error {
            Self::Missing { file, place } | Self::NoStories { file, place } => {
                *place = "the data folder".to_owned();
                *file = without_folder(file);
            }
            Self::Unreadable { file, .. }
            | Self::WrongSize { file, .. }
            | Self::Altered { file, .. }
            | Self::NotADataFile { file, .. }
            | Self::BadLine { file, .. }
            | Self::NotStories { file, .. } => *file = without_folder(file),
        }
        error
    }
}

fn without_folder(file: &str) -> String {
    file.rsplit(['/', '\\']).next().unwrap_or(file).to_owned()
}

/// Compact data file as listed in `reference/data-sets.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataFile {
    pub set: String,
    pub split: String,
    pub file: String,
    #[serde(flatten)]
    pub shape: SplitDefinition,
    /// Character of each class, for a text. The last one stands for all rare characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alphabet: Option<String>,
    pub bytes: u64,
    pub sha256: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitDefinition {
    pub samples: u32,
    pub height: u32,
    pub width: u32,
    pub channels: u32,
    pub classes: u32,
}

impl SplitDefinition {
    pub fn features(&self) -> u32 {
        self.height * self.width * self.channels
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DataSetDefinition {
    pub name: String,
    pub train: SplitDefinition,
    pub test: SplitDefinition,
    pub origin: Origin,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Compact files converted from published ones and verified by checksum.
    Files { train: Box<DataFile>, test: Box<DataFile> },
    /// A text in compact files without labels. Its samples are characters, of which networks read windows. `alphabet` has
    /// the character of each class.
    Text { train: Box<DataFile>, test: Box<DataFile>, alphabet: String },
    /// Published story files, or generated stories for the same task.
    Stories(StorySet),
    /// Square color images of noise.
    Images { side: u32 },
}

impl Origin {
    /// Returns true if all samples are generated noise, which is never ranked.
    pub fn is_always_generated(&self) -> bool {
        matches!(self, Self::Images { .. })
    }
}

impl DataSetDefinition {
    /// Returns the compact files of the training and the test part, if the set has them.
    pub fn compact_files(&self) -> Option<[&DataFile; 2]> {
        match &self.origin {
            Origin::Files { train, test } | Origin::Text { train, test, .. } => Some([train, test]),
            Origin::Stories(_) | Origin::Images { .. } => None,
        }
    }

    pub fn file_names(&self) -> Option<[&str; 2]> {
        match &self.origin {
            Origin::Stories(set) => Some(set.file_names()),
            _ => self.compact_files().map(|files| files.map(|file| file.file.as_str())),
        }
    }

    /// Returns true for a text, whose samples are characters.
    pub fn is_text(&self) -> bool {
        matches!(self.origin, Origin::Text { .. })
    }

    /// Returns the number of samples that a network with `features` inputs finds in a file of `samples`. In a text, these
    /// are windows one after the other, each followed by the label of its last character.
    pub fn samples_for(&self, features: u32, samples: u32) -> u32 {
        if self.is_text() { samples.saturating_sub(1) / features.max(1) } else { samples }
    }

    fn of_files(train: &DataFile, test: &DataFile) -> Self {
        let (name, shapes) = (train.set.clone(), [train.shape, test.shape]);
        let (train, test) = (Box::new(train.clone()), Box::new(test.clone()));
        let origin = match train.alphabet.clone() {
            Some(alphabet) => Origin::Text { train, test, alphabet },
            None => Origin::Files { train, test },
        };
        let [train, test] = shapes;
        Self { name, train, test, origin }
    }

    fn of_stories(set: StorySet) -> Self {
        let Encoding { lengths, vocabulary: classes, training_questions, .. } = set.encoding();
        let width = lengths.into_iter().sum();
        let split = |samples| SplitDefinition { samples, height: 1, width, channels: 1, classes };
        let (train, test) = (split(training_questions), split(QUESTIONS));
        Self { name: set.name(), train, test, origin: Origin::Stories(set) }
    }

    fn of_images(side: u32) -> Self {
        let split = |samples| SplitDefinition { samples, height: side, width: side, channels: 3, classes: 1000 };
        let (name, origin) = (format!("generated-images-{side}"), Origin::Images { side });
        // Few distinct training images save memory.
        Self { name, train: split(256), test: split(32), origin }
    }
}

/// All data sets: those in `reference/data-sets.json`, then stories, then generated images.
pub static DATA_SETS: LazyLock<Vec<DataSetDefinition>> = LazyLock::new(|| {
    let files: Vec<DataFile> =
        serde_json::from_str(include_str!("../../../reference/data-sets.json")).expect("the file is checked in");
    let part = |set: &str, split: &str| {
        files.iter().find(|f| f.set == set && f.split == split).expect("each set has both parts")
    };
    let of_files = files.iter().filter(|f| f.split == "train");
    let of_files = of_files.map(|train| DataSetDefinition::of_files(train, part(&train.set, "test")));
    let of_stories = StorySet::ALL.into_iter().map(DataSetDefinition::of_stories);
    let of_images = GENERATED_SIDES.into_iter().map(DataSetDefinition::of_images);
    of_files.chain(of_stories).chain(of_images).collect()
});

pub fn data_set(name: &str) -> Option<&'static DataSetDefinition> {
    DATA_SETS.iter().find(|set| set.name == name)
}

const HEADER_BYTES: usize = 32;

/// Verifies a file and converts it to a split, reusing its memory.
fn read_compact_file(expected: &DataFile, bytes: Vec<u8>) -> Result<Split, DataError> {
    let file = || expected.file.clone();
    if bytes.len() as u64 != expected.bytes {
        return Err(DataError::WrongSize { file: file(), expected: expected.bytes, found: bytes.len() as u64 });
    }
    let found = sha256(&bytes);
    if found != expected.sha256 {
        return Err(DataError::Altered { file: file(), expected: expected.sha256.clone(), found });
    }
    parse_compact_file(expected, bytes).map_err(|reason| DataError::NotADataFile { file: file(), reason })
}

fn sha256(bytes: &[u8]) -> String {
    results::hex(&Sha256::digest(bytes))
}

/// Parses a file whose header must match the definition.
fn parse_compact_file(expected: &DataFile, mut bytes: Vec<u8>) -> Result<Split, String> {
    let (header, body) = bytes.split_at_checked(HEADER_BYTES).ok_or("it is shorter than its header")?;
    if &header[..4] != b"GMDS" {
        return Err("it does not begin with GMDS".to_owned());
    }
    let word = |i: usize| u32::from_le_bytes([header[4 * i], header[4 * i + 1], header[4 * i + 2], header[4 * i + 3]]);
    let found = [word(1), word(2), word(3), word(4), word(5), word(6)];
    let shape = expected.shape;
    let wanted = [1, shape.samples, shape.height, shape.width, shape.channels, shape.classes];
    if found != wanted {
        return Err(format!("its header has {found:?} where {wanted:?} is expected"));
    }
    let samples = shape.samples as usize;
    let pixels = samples * shape.features() as usize;
    // The labels of a text are its characters.
    let (expected_bytes, labels_begin) =
        if expected.alphabet.is_some() { (pixels, 0) } else { (pixels + samples, pixels) };
    if body.len() != expected_bytes {
        return Err(format!("it has {} bytes after the header, not {expected_bytes}", body.len()));
    }
    let labels: Vec<u16> = body[labels_begin..].iter().copied().map(u16::from).collect();
    if let Some(label) = labels.iter().find(|&&label| u32::from(label) >= shape.classes) {
        return Err(format!("it has the label {label}, but there are {} classes", shape.classes));
    }
    bytes.truncate(HEADER_BYTES + pixels);
    bytes.drain(..HEADER_BYTES);
    Ok(Split { images: bytes, labels })
}

/// Sides of generated images, in pixels.
const GENERATED_SIDES: [u32; 2] = [224, 299];
const SEED: u32 = 1;

/// Generates both splits with uniform bytes and independent uniform classes.
fn generate_images(set: &DataSetDefinition) -> [Split; 2] {
    [(0, set.train), (1, set.test)].map(|(half, split)| {
        let SplitDefinition { samples, height, classes, .. } = split;
        let labels = Generator { stream: stream::IMAGES + 2 + half, step: height, seed: SEED };
        let label = |sample| u16::try_from(labels.below(sample, classes)).expect("a label has two bytes");
        let block = |index| pcg4d([index, stream::IMAGES + half, height, SEED]).into_iter().flat_map(u32::to_le_bytes);
        let bytes = samples * split.features();
        Split {
            images: (0..bytes.div_ceil(16)).flat_map(block).take(bytes as usize).collect(),
            labels: (0..samples).map(label).collect(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_without_folders_keeps_its_advice() {
        let file = "/home/alice/data/mnist-train.bin".to_owned();
        let missing = DataError::Missing { file: file.clone(), place: "/home/alice/data".to_owned() };
        let altered = DataError::Altered { file, expected: "a".to_owned(), found: "b".to_owned() };
        for error in [missing, altered] {
            let text = error.without_folders().to_string();
            assert!(text.starts_with("mnist-train.bin ") && !text.contains("alice"), "{text}");
            assert!(text.contains("`cargo xtask data` fetches it"), "{text}");
        }
        let windows = DataError::Unreadable { file: r"C:\Users\Alice\a.bin".to_owned(), reason: "denied".to_owned() };
        assert_eq!(windows.without_folders().to_string(), "a.bin could not be read: denied");
    }

    #[test]
    fn data_sets_have_unique_names_and_consistent_shapes() {
        let mut names: Vec<&str> = DATA_SETS.iter().map(|set| set.name.as_str()).collect();
        assert!(names.contains(&"mnist") && names.contains(&"babi-qa2"), "{names:?}");
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), DATA_SETS.len());
        for set in DATA_SETS.iter() {
            assert_eq!((set.train.features(), set.train.classes), (set.test.features(), set.test.classes), "{set:?}");
        }
    }

    #[test]
    fn parts_of_a_text_share_an_alphabet_of_all_classes() {
        let texts: Vec<_> = DATA_SETS.iter().filter(|set| set.is_text()).collect();
        assert!(!texts.is_empty());
        for set in texts {
            let [train, test] = set.compact_files().unwrap();
            let alphabet: Vec<char> = train.alphabet.as_ref().unwrap().chars().collect();
            assert_eq!(alphabet.len(), set.train.classes as usize, "{}", set.name);
            let (rare, characters) = alphabet.split_last().unwrap();
            assert!(*rare == char::REPLACEMENT_CHARACTER && characters.is_sorted_by(|one, next| one < next));
            assert_eq!(train.alphabet, test.alphabet);
        }
    }

    #[test]
    fn windows_of_a_text_end_before_its_last_character() {
        let text = data_set("moby-dick").unwrap();
        assert_eq!([64, 65, 128, 129].map(|characters| text.samples_for(64, characters)), [0, 1, 1, 2]);
        assert_eq!(data_set("mnist").unwrap().samples_for(784, 60_000), 60_000);
    }

    fn small() -> (DataFile, Vec<u8>) {
        let shape = SplitDefinition { samples: 2, height: 1, width: 2, channels: 1, classes: 10 };
        file_of(shape, None, &[1, 2, 3, 4, 7, 9])
    }

    fn file_of(shape: SplitDefinition, alphabet: Option<&str>, body: &[u8]) -> (DataFile, Vec<u8>) {
        let SplitDefinition { samples, height, width, channels, classes } = shape;
        let mut bytes = b"GMDS".to_vec();
        for word in [1, samples, height, width, channels, classes, 0] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend_from_slice(body);
        let definition = DataFile {
            set: "small".to_owned(),
            split: "train".to_owned(),
            file: "small-train.bin".to_owned(),
            shape,
            alphabet: alphabet.map(str::to_owned),
            bytes: bytes.len() as u64,
            sha256: sha256(&bytes),
        };
        (definition, bytes)
    }

    #[test]
    fn valid_file_is_split_into_images_and_labels() {
        let (definition, bytes) = small();
        assert_eq!(read_compact_file(&definition, bytes), Ok(Split { images: vec![1, 2, 3, 4], labels: vec![7, 9] }));
    }

    #[test]
    fn characters_of_a_text_are_its_labels() {
        let shape = SplitDefinition { samples: 4, height: 1, width: 1, channels: 1, classes: 3 };
        let (definition, bytes) = file_of(shape, Some("ab\u{fffd}"), &[1, 0, 2, 2]);
        let text = Split { images: vec![1, 0, 2, 2], labels: vec![1, 0, 2, 2] };
        assert_eq!(read_compact_file(&definition, bytes), Ok(text));
        let (definition, bytes) = file_of(shape, Some("ab\u{fffd}"), &[1, 0, 3, 2]);
        let error = read_compact_file(&definition, bytes).unwrap_err().to_string();
        assert!(error.contains("the label 3, but there are 3 classes"), "{error}");
    }

    #[test]
    fn other_files_are_refused_with_the_reason() {
        let (mut definition, bytes) = small();
        let refused = |definition: &DataFile, bytes: &[u8]| read_compact_file(definition, bytes.to_vec()).unwrap_err();
        let error = refused(&definition, &bytes[..30]);
        assert_eq!(error, DataError::WrongSize { file: "small-train.bin".to_owned(), expected: 38, found: 30 });
        assert!(error.to_string().contains("cargo xtask data"));
        let change = |place: usize| {
            let mut changed = bytes.clone();
            changed[place] ^= 3;
            changed
        };
        let error = refused(&definition, &change(33));
        assert!(matches!(&error, DataError::Altered { file, .. } if file == "small-train.bin"), "{error}");
        let other_version = change(4);
        definition.sha256 = sha256(&other_version);
        let error = refused(&definition, &other_version);
        assert!(matches!(&error, DataError::NotADataFile { reason, .. } if reason.contains("header")), "{error}");
    }

    #[test]
    fn generated_sets_are_reproducible_with_the_defined_shape() {
        let [noise, text] = ["mnist", "moby-dick"].map(|name| DataSet::noise(data_set(name).unwrap()));
        let generated: Vec<DataSet> = DATA_SETS.iter().filter_map(DataSet::generated).collect();
        assert_eq!(generated.len(), GENERATED_SIDES.len() + StorySet::ALL.len());
        for set in generated.iter().chain([&noise, &text]) {
            assert!(set.generated, "a record must say so");
            for (half, expected) in [(&set.train, set.definition.train), (&set.test, set.definition.test)] {
                assert_eq!(half.samples(), expected.samples);
                assert_eq!(half.images.len(), expected.samples as usize * expected.features() as usize);
                assert!(half.labels.iter().all(|&label| u32::from(label) < expected.classes));
                // Padding is never the answer to a question.
                let is_story = matches!(set.definition.origin, Origin::Stories(_));
                assert!(!is_story || half.labels.iter().all(|&label| label > 0));
            }
        }
        for set in generated {
            assert_eq!(DataSet::generated(set.definition).unwrap().train, set.train);
        }
        assert_eq!(noise.train.labels.iter().max(), Some(&9), "ten classes");
        assert_eq!(Split::text(text.train.images.iter().copied()), text.train);
    }

    #[test]
    fn pixels_are_uniform_and_labels_exceed_a_byte() {
        let [train, test] = generate_images(data_set("generated-images-224").unwrap());
        let mean = train.images.iter().map(|&byte| f64::from(byte)).sum::<f64>() / train.images.len() as f64;
        assert!((mean - 127.5).abs() < 0.1, "{mean}");
        assert!(train.labels.iter().any(|&label| label > 900) && train.labels.iter().any(|&label| label < 100));
        assert_ne!(train.images[..100], test.images[..100], "the test half has other images");
    }
}

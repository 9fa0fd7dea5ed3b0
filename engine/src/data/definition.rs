use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::images::{self, GeneratedImages};
use super::stories::{QUESTIONS, StorySet};

/// A compact data file as `reference/data-sets.json` lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataFile {
    pub set: String,
    pub split: String,
    pub file: String,
    pub samples: u32,
    pub height: u32,
    pub width: u32,
    pub channels: u32,
    pub classes: u32,
    pub bytes: u64,
    pub sha256: String,
}

impl DataFile {
    /// Values of one sample.
    pub fn features(&self) -> u32 {
        self.height * self.width * self.channels
    }
}

/// How many samples one half of a data set has, and their shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SplitDefinition {
    pub samples: u32,
    pub height: u32,
    pub width: u32,
    pub channels: u32,
    /// Labels are below this.
    pub classes: u32,
}

impl SplitDefinition {
    /// Values of one sample.
    pub fn features(&self) -> u32 {
        self.height * self.width * self.channels
    }
}

/// A data set: two halves with samples of equal shape, and where they come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DataSetDefinition {
    pub name: String,
    pub train: SplitDefinition,
    pub test: SplitDefinition,
    pub origin: Origin,
}

/// Where a data set comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Compact files that were made from published ones; every byte of them is known.
    Files { train: Box<DataFile>, test: Box<DataFile> },
    /// Stories with questions: the published text files, or generated ones of the same task.
    Stories(StorySet),
    /// Images that show nothing, generated wherever they are needed: no files hold them.
    Images(GeneratedImages),
}

impl Origin {
    /// Whether there is nothing but generated samples: nobody learns anything from them, and no figure of them is ranked.
    pub fn is_always_generated(&self) -> bool {
        matches!(self, Self::Images(_))
    }
}

impl DataSetDefinition {
    /// Names of the training and the test file, if files can hold it.
    pub fn file_names(&self) -> Option<[&str; 2]> {
        match &self.origin {
            Origin::Files { train, test } => Some([&train.file, &test.file]),
            Origin::Stories(set) => Some(set.file_names()),
            Origin::Images(_) => None,
        }
    }

    fn of_files(train: &DataFile, test: &DataFile) -> Self {
        let split = |file: &DataFile| SplitDefinition {
            samples: file.samples,
            height: file.height,
            width: file.width,
            channels: file.channels,
            classes: file.classes,
        };
        Self {
            name: train.set.clone(),
            train: split(train),
            test: split(test),
            origin: Origin::Files { train: Box::new(train.clone()), test: Box::new(test.clone()) },
        }
    }

    fn of_stories(set: StorySet) -> Self {
        let test = SplitDefinition {
            samples: QUESTIONS,
            height: 1,
            width: set.lengths().into_iter().sum(),
            channels: 1,
            classes: set.vocabulary(),
        };
        let train = SplitDefinition { samples: set.training_questions(), ..test };
        Self { name: set.name(), train, test, origin: Origin::Stories(set) }
    }

    fn of_images(set: GeneratedImages) -> Self {
        let train = SplitDefinition {
            samples: images::TRAINING_IMAGES,
            height: set.side,
            width: set.side,
            channels: images::CHANNELS,
            classes: images::CLASSES,
        };
        let test = SplitDefinition { samples: images::TEST_IMAGES, ..train };
        Self { name: set.name(), train, test, origin: Origin::Images(set) }
    }
}

/// Every data set there is: those of `reference/data-sets.json` in its order, then the stories and the generated images.
pub static DATA_SETS: LazyLock<Vec<DataSetDefinition>> = LazyLock::new(|| {
    let files: Vec<DataFile> =
        serde_json::from_str(include_str!("../../../reference/data-sets.json")).expect("the file is checked in");
    let part = |set: &str, split: &str| {
        files.iter().find(|f| f.set == set && f.split == split).expect("each set has both parts")
    };
    let of_files = files.iter().filter(|f| f.split == "train");
    let of_files = of_files.map(|train| DataSetDefinition::of_files(train, part(&train.set, "test")));
    let of_stories = StorySet::ALL.into_iter().map(DataSetDefinition::of_stories);
    let of_images = GeneratedImages::ALL.into_iter().map(DataSetDefinition::of_images);
    of_files.chain(of_stories).chain(of_images).collect()
});

/// The data set with this name.
pub fn data_set(name: &str) -> Option<&'static DataSetDefinition> {
    DATA_SETS.iter().find(|set| set.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_data_set_has_a_name_of_its_own_and_halves_of_one_shape() {
        let mut names: Vec<&str> = DATA_SETS.iter().map(|set| set.name.as_str()).collect();
        assert!(names.contains(&"mnist") && names.contains(&"babi-qa2"), "{names:?}");
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), DATA_SETS.len());
        for set in DATA_SETS.iter() {
            assert_eq!((set.train.features(), set.train.classes), (set.test.features(), set.test.classes), "{set:?}");
        }
    }
}

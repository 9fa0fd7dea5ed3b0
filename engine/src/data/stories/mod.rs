//! Stories with questions: tasks 1 and 2 of bAbI (Weston and others, 2015, "Towards AI-Complete Question Answering").
//!
//! [`parser`] reads the published text files, [`generator`] makes up texts in the same format, and [`encode`] turns
//! either into bytes: each word is the number of its place in the sorted vocabulary, counted from 1, and 0 is padding.

mod encode;
mod generator;
mod parser;
mod reading;

use serde::Serialize;

use super::{DataError, Split};
pub use reading::{Reading, StorySet};

/// Questions of the test file, and of most training files.
pub(super) const QUESTIONS: u32 = 1000;

/// A task of bAbI that this program knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StoryTask {
    /// Where somebody is, which one sentence tells.
    OneSupportingFact,
    /// Where an object is: one sentence tells who handled it, another where that person was.
    TwoSupportingFacts,
}

impl StoryTask {
    /// Every task, by its number.
    pub const ALL: [Self; 2] = [Self::OneSupportingFact, Self::TwoSupportingFacts];

    /// Number of the task, from 1.
    pub fn number(self) -> u32 {
        match self {
            Self::OneSupportingFact => 1,
            Self::TwoSupportingFacts => 2,
        }
    }

    /// Names of the training and the test file in the published archive.
    pub fn file_names(self) -> [&'static str; 2] {
        match self {
            Self::OneSupportingFact => ["qa1_single-supporting-fact_train.txt", "qa1_single-supporting-fact_test.txt"],
            Self::TwoSupportingFacts => ["qa2_two-supporting-facts_train.txt", "qa2_two-supporting-facts_test.txt"],
        }
    }
}

/// Training and test half from the two published files, whose names are in the errors.
pub(super) fn read(set: StorySet, train: &[u8], test: &[u8]) -> Result<[Split; 2], DataError> {
    let [train_file, test_file] = set.file_names();
    let train = parse(train_file, train, set.training_questions())?;
    let test = parse(test_file, test, QUESTIONS)?;
    let words = encode::Vocabulary::of(set, train.iter().chain(&test));
    if words.size() > set.vocabulary() {
        let (words, most) = (words.size() - 1, set.vocabulary() - 1);
        let reason = format!("with its other half it has {words} different words where at most {most} are expected");
        return Err(DataError::NotStories { file: train_file.to_owned(), reason });
    }
    Ok([words.encode(&train), words.encode(&test)])
}

fn parse<'t>(file: &str, bytes: &'t [u8], questions: u32) -> Result<Vec<parser::Sample<'t>>, DataError> {
    let wrong = |reason: String| DataError::NotStories { file: file.to_owned(), reason };
    let text = std::str::from_utf8(bytes).map_err(|error| wrong(format!("it is not text ({error})")))?;
    let samples = parser::parse(file, text)?;
    if samples.len() != questions as usize {
        return Err(wrong(format!("it asks {} questions where {questions} are expected", samples.len())));
    }
    Ok(samples)
}

/// Training and test half of made-up stories.
pub(super) fn generated(set: StorySet) -> [Split; 2] {
    let [train, test] = generator::generate(set.task, set.training_questions());
    read(set, train.as_bytes(), test.as_bytes()).expect("what is generated has the published format")
}

#[cfg(test)]
mod tests;

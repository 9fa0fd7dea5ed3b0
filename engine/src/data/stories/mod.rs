//! Stories with questions: tasks 1 and 2 of bAbI (Weston and others, 2015, "Towards AI-Complete Question Answering").
//!
//! [`parser`] reads the published text files, [`generator`] makes up texts in the same format, and [`encode`] turns
//! either into bytes: each word is the number of its place in the sorted vocabulary, counted from 1, and 0 is padding.

mod encode;
mod generator;
mod parser;

use serde::Serialize;

use super::{DataError, Split};

/// Words of a story as a network sees it; the longest story of task 2 has as many.
pub(super) const STORY_LENGTH: u32 = 552;
/// Words of a question as a network sees it.
pub(super) const QUESTION_LENGTH: u32 = 5;
/// The 35 words of task 2, and the padding.
pub(super) const VOCABULARY: u32 = 36;
/// Questions of the training file, and of the test file.
pub(super) const QUESTIONS: u32 = 1000;

/// A task of bAbI that this program knows. Both are encoded for the same network.
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
pub(super) fn read(task: StoryTask, train: &[u8], test: &[u8]) -> Result<[Split; 2], DataError> {
    let [train_file, test_file] = task.file_names();
    let (train, test) = (parse(train_file, train)?, parse(test_file, test)?);
    let words = encode::Vocabulary::of(train.iter().chain(&test));
    if words.size() > VOCABULARY {
        let (words, most) = (words.size() - 1, VOCABULARY - 1);
        let reason = format!("with its other half it has {words} different words where at most {most} are expected");
        return Err(DataError::NotStories { file: train_file.to_owned(), reason });
    }
    Ok([words.encode(&train), words.encode(&test)])
}

fn parse<'t>(file: &str, bytes: &'t [u8]) -> Result<Vec<parser::Sample<'t>>, DataError> {
    let wrong = |reason: String| DataError::NotStories { file: file.to_owned(), reason };
    let text = std::str::from_utf8(bytes).map_err(|error| wrong(format!("it is not text ({error})")))?;
    let samples = parser::parse(file, text)?;
    if samples.len() != QUESTIONS as usize {
        return Err(wrong(format!("it asks {} questions where {QUESTIONS} are expected", samples.len())));
    }
    Ok(samples)
}

/// Training and test half of made-up stories.
pub(super) fn generated(task: StoryTask) -> [Split; 2] {
    let [train, test] = generator::generate(task);
    read(task, train.as_bytes(), test.as_bytes()).expect("what is generated has the published format")
}

#[cfg(test)]
mod tests;

//! Stories with questions: tasks 1 and 2 of bAbI (Weston et al., 2015, "Towards AI-Complete Question Answering").
//!
//! Each word is encoded as its 1-based index in the sorted vocabulary; 0 is padding.

mod generator;
mod parser;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Serialize;

use super::{DataError, Split};

use parser::{Sample, is_word};

/// Number of questions in the test file and in most training files.
pub(super) const QUESTIONS: u32 = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StoryTask {
    /// Asks for a person's place, stated in one sentence.
    OneSupportingFact,
    /// Asks for an object's place. One sentence states who handled it, another where that person was.
    TwoSupportingFacts,
}

impl StoryTask {
    pub fn number(self) -> u32 {
        match self {
            Self::OneSupportingFact => 1,
            Self::TwoSupportingFacts => 2,
        }
    }
}

pub(super) fn read(set: StorySet, train: &[u8], test: &[u8]) -> Result<[Split; 2], DataError> {
    let [train_file, test_file] = set.file_names();
    let Encoding { training_questions, vocabulary, .. } = set.encoding();
    let train = parse(train_file, train, training_questions)?;
    let test = parse(test_file, test, QUESTIONS)?;
    let words = Vocabulary::of(set, train.iter().chain(&test));
    if words.size() > vocabulary {
        let (words, most) = (words.size() - 1, vocabulary - 1);
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

pub(super) fn generated(set: StorySet) -> [Split; 2] {
    let [train, test] = generator::generate(set.task, set.encoding().training_questions);
    read(set, train.as_bytes(), test.as_bytes()).expect("what is generated has the published format")
}

/// Encoding of a story and its question as word numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// Words of the story, then of the question, each padded or truncated at the front. Punctuation marks are words.
    Words,
    /// Same as `Words`, with 10,000 training questions and lengths for task 1.
    ManyQuestions,
    /// Sentences of fixed length, last one first, then the question, padded at their ends. No punctuation marks.
    Sentences,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct StorySet {
    pub task: StoryTask,
    pub reading: Reading,
}

/// Number of sentences in the longest story of task 1.
const SENTENCES: u32 = 10;
/// Number of words in the longest sentence of task 1.
const SENTENCE_LENGTH: u32 = 6;

impl StorySet {
    pub const ALL: [Self; 4] = [
        Self { task: StoryTask::OneSupportingFact, reading: Reading::Words },
        Self { task: StoryTask::TwoSupportingFacts, reading: Reading::Words },
        Self { task: StoryTask::OneSupportingFact, reading: Reading::ManyQuestions },
        Self { task: StoryTask::OneSupportingFact, reading: Reading::Sentences },
    ];

    pub fn name(self) -> String {
        format!("babi-qa{}{}", self.task.number(), self.encoding().name)
    }

    /// Returns the names of the training and test files, relative to the archive's folder with 1,000 questions.
    pub fn file_names(self) -> [&'static str; 2] {
        match (self.task, self.reading) {
            // Only task 1 is read with many questions.
            (_, Reading::ManyQuestions) => {
                ["../en-10k/qa1_single-supporting-fact_train.txt", "../en-10k/qa1_single-supporting-fact_test.txt"]
            }
            (StoryTask::OneSupportingFact, _) => {
                ["qa1_single-supporting-fact_train.txt", "qa1_single-supporting-fact_test.txt"]
            }
            (StoryTask::TwoSupportingFacts, _) => {
                ["qa2_two-supporting-facts_train.txt", "qa2_two-supporting-facts_test.txt"]
            }
        }
    }

    pub(super) fn encoding(self) -> Encoding {
        let (name, training_questions, lengths, vocabulary) = match self.reading {
            // Length of the longest story of task 2, and its 35 words.
            Reading::Words => ("", QUESTIONS, [552, 5], 36),
            Reading::ManyQuestions => ("-10k", 10_000, [68, 4], 22),
            Reading::Sentences => ("-sentences", QUESTIONS, [SENTENCES * SENTENCE_LENGTH, SENTENCE_LENGTH], 20),
        };
        Encoding { name, training_questions, lengths, vocabulary }
    }
}

pub(super) struct Encoding {
    /// End of the set's name.
    name: &'static str,
    pub(super) training_questions: u32,
    /// Lengths of story and question.
    pub(super) lengths: [u32; 2],
    /// Number of words, including padding.
    pub(super) vocabulary: u32,
}

/// Number of each word, which is its 1-based index in sorted order. 0 is padding.
struct Vocabulary<'t> {
    set: StorySet,
    numbers: BTreeMap<&'t str, u32>,
}

impl<'t> Vocabulary<'t> {
    /// Collects the words of stories, questions and answers, with punctuation if the network reads it.
    fn of<'s>(set: StorySet, samples: impl Iterator<Item = &'s Sample<'t>>) -> Self
    where
        't: 's,
    {
        let mut words = BTreeMap::new();
        for sample in samples {
            words.extend(sample.story.iter().chain(&sample.question).chain([&sample.answer]).map(|&word| (word, 0)));
        }
        if set.reading == Reading::Sentences {
            words.retain(|word, _| is_word(word));
        }
        for (number, place) in (1..).zip(words.values_mut()) {
            *place = number;
        }
        Self { set, numbers: words }
    }

    fn size(&self) -> u32 {
        u32::try_from(self.numbers.len() + 1).unwrap_or(u32::MAX)
    }

    /// Encodes story and question as an image, and the answer as its label. Panics if a word is unknown or over 255.
    fn encode(&self, samples: &[Sample<'_>]) -> Split {
        let [story_length, question_length] = self.set.encoding().lengths.map(|length| length as usize);
        let row = story_length + question_length;
        let mut images = vec![0; samples.len() * row];
        let in_sentences = self.set.reading == Reading::Sentences;
        let lay_out = if in_sentences { Self::lay_out_sentences } else { Self::align_to_end };
        for (image, sample) in images.chunks_exact_mut(row).zip(samples) {
            let (story, question) = image.split_at_mut(story_length);
            lay_out(self, &sample.story, story);
            lay_out(self, &sample.question, question);
        }
        Split { images, labels: samples.iter().map(|sample| self.number(sample.answer).into()).collect() }
    }

    fn number(&self, word: &str) -> u8 {
        u8::try_from(self.numbers[word]).expect("a small vocabulary")
    }

    /// Pads short texts and truncates long ones at the front.
    fn align_to_end(&self, words: &[&str], bytes: &mut [u8]) {
        for (byte, word) in bytes.iter_mut().rev().zip(words.iter().rev()) {
            *byte = self.number(word);
        }
    }

    /// Lays out sentences, last one first, dropping those that do not fit.
    fn lay_out_sentences(&self, words: &[&str], bytes: &mut [u8]) {
        let sentences = words.split(|word| !is_word(word)).filter(|sentence| !sentence.is_empty());
        let places = bytes.chunks_exact_mut(SENTENCE_LENGTH as usize).take(SENTENCES as usize);
        for (bytes, sentence) in places.zip(sentences.rev()) {
            for (byte, word) in bytes.iter_mut().zip(sentence) {
                *byte = self.number(word);
            }
        }
    }
}

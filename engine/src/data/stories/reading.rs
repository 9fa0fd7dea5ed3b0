use serde::Serialize;

use super::{QUESTIONS, StoryTask};

/// How a network reads a story and its question: numbers of words, one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// The words of the story, then those of the question; each of the two is filled up with zeros at its front, or cut
    /// there. Punctuation marks are words.
    Words,
    /// The same of 10,000 training questions, as long as the longest of task 1.
    ManyQuestions,
    /// Sentences of the same length, the last one told first, then the question; each is filled up with zeros at its end.
    /// There are no punctuation marks.
    Sentences,
}

/// Stories of a task as a network reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct StorySet {
    pub task: StoryTask,
    pub reading: Reading,
}

/// Sentences of the longest story of task 1.
pub(super) const SENTENCES: u32 = 10;
/// Words of its longest sentence.
pub(super) const SENTENCE_LENGTH: u32 = 6;

impl StorySet {
    /// Every set.
    pub const ALL: [Self; 4] = [
        Self { task: StoryTask::OneSupportingFact, reading: Reading::Words },
        Self { task: StoryTask::TwoSupportingFacts, reading: Reading::Words },
        Self { task: StoryTask::OneSupportingFact, reading: Reading::ManyQuestions },
        Self { task: StoryTask::OneSupportingFact, reading: Reading::Sentences },
    ];

    pub fn name(self) -> String {
        let task = self.task.number();
        match self.reading {
            Reading::Words => format!("babi-qa{task}"),
            Reading::ManyQuestions => format!("babi-qa{task}-10k"),
            Reading::Sentences => format!("babi-qa{task}-sentences"),
        }
    }

    /// Names of the training and the test file, seen from the folder of the published archive with 1,000 questions.
    pub fn file_names(self) -> [&'static str; 2] {
        match (self.reading, self.task) {
            (Reading::ManyQuestions, StoryTask::OneSupportingFact) => {
                ["../en-10k/qa1_single-supporting-fact_train.txt", "../en-10k/qa1_single-supporting-fact_test.txt"]
            }
            (Reading::ManyQuestions, StoryTask::TwoSupportingFacts) => {
                ["../en-10k/qa2_two-supporting-facts_train.txt", "../en-10k/qa2_two-supporting-facts_test.txt"]
            }
            (Reading::Words | Reading::Sentences, task) => task.file_names(),
        }
    }

    pub(in crate::data) fn training_questions(self) -> u32 {
        if self.reading == Reading::ManyQuestions { 10_000 } else { QUESTIONS }
    }

    /// Numbers of the story, and of the question.
    pub(in crate::data) fn lengths(self) -> [u32; 2] {
        match self.reading {
            // The longest story of task 2 has as many.
            Reading::Words => [552, 5],
            Reading::ManyQuestions => [68, 4],
            Reading::Sentences => [SENTENCES * SENTENCE_LENGTH, SENTENCE_LENGTH],
        }
    }

    /// Different numbers, that of the padding included.
    pub(in crate::data) fn vocabulary(self) -> u32 {
        match self.reading {
            // The 35 words of task 2.
            Reading::Words => 36,
            Reading::ManyQuestions => 22,
            Reading::Sentences => 20,
        }
    }
}

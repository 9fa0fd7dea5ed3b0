//! From words to bytes.

use std::collections::BTreeMap;

use super::parser::{Sample, is_word};
use super::reading::{Reading, SENTENCE_LENGTH, SENTENCES, StorySet};
use crate::data::Split;

/// The number of each word: its place among all words in the order of their characters, from 1. 0 is padding.
pub(super) struct Vocabulary<'t> {
    set: StorySet,
    numbers: BTreeMap<&'t str, u32>,
}

impl<'t> Vocabulary<'t> {
    /// All words of stories, questions and answers; punctuation marks are words where the network reads them.
    pub(super) fn of<'s>(set: StorySet, samples: impl Iterator<Item = &'s Sample<'t>>) -> Self
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

    /// Different numbers that there are, the padding's included.
    pub(super) fn size(&self) -> u32 {
        u32::try_from(self.numbers.len() + 1).unwrap_or(u32::MAX)
    }

    /// A story and its question are one image of bytes, the answer is its label.
    ///
    /// # Panics
    /// The vocabulary is not that of the samples, or has more numbers than a byte.
    pub(super) fn encode(&self, samples: &[Sample<'_>]) -> Split {
        let [story_length, question_length] = self.set.lengths().map(|length| length as usize);
        let row = story_length + question_length;
        let mut images = vec![0; samples.len() * row];
        for (image, sample) in images.chunks_exact_mut(row).zip(samples) {
            let (story, question) = image.split_at_mut(story_length);
            if self.set.reading == Reading::Sentences {
                self.lay_out_sentences(&sample.story, story);
                self.lay_out_sentences(&sample.question, question);
            } else {
                self.fill_up_at_the_front(&sample.story, story);
                self.fill_up_at_the_front(&sample.question, question);
            }
        }
        Split { images, labels: samples.iter().map(|sample| self.number(sample.answer).into()).collect() }
    }

    fn number(&self, word: &str) -> u8 {
        u8::try_from(self.numbers[word]).expect("a small vocabulary")
    }

    /// What is too long is cut at its front.
    fn fill_up_at_the_front(&self, words: &[&str], bytes: &mut [u8]) {
        for (byte, word) in bytes.iter_mut().rev().zip(words.iter().rev()) {
            *byte = self.number(word);
        }
    }

    /// Sentences, which end with a punctuation mark, the last one first: as many as there is room for, each with the words
    /// that there is room for.
    fn lay_out_sentences(&self, words: &[&str], bytes: &mut [u8]) {
        let sentences = words.split(|word| !is_word(word)).filter(|sentence| !sentence.is_empty());
        let sentences: Vec<&[&str]> = sentences.collect();
        let places = bytes.chunks_exact_mut(SENTENCE_LENGTH as usize).take(SENTENCES as usize);
        for (bytes, sentence) in places.zip(sentences.into_iter().rev()) {
            for (byte, word) in bytes.iter_mut().zip(sentence) {
                *byte = self.number(word);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::StoryTask;

    const SET: StorySet = StorySet { task: StoryTask::OneSupportingFact, reading: Reading::Words };

    #[test]
    fn words_are_numbered_in_order_and_filled_up_at_the_front() {
        let sample = Sample { story: vec!["b", "c", "."], question: vec!["a", "?"], answer: "c" };
        let words = Vocabulary::of(SET, [&sample].into_iter());
        // In the order of characters: `.`, `?`, `a`, `b`, `c`.
        assert_eq!(words.size(), 6);
        let split = words.encode(&[sample]);
        let mut expected = vec![0; 549];
        expected.extend([4, 5, 1]);
        expected.extend([0, 0, 0, 3, 2]);
        assert_eq!(split, Split { images: expected, labels: vec![5] });
    }

    #[test]
    fn what_is_too_long_is_cut_at_the_front() {
        let mut story = vec!["early"; 10];
        story.extend(vec!["late"; 552]);
        let sample = Sample { story, question: vec!["early", "1", "2", "3", "4", "5"], answer: "early" };
        let words = Vocabulary::of(SET, [&sample].into_iter());
        let split = words.encode(&[sample]);
        assert!(split.images[..552].iter().all(|&byte| byte == 7), "only late words stay");
        assert_eq!(split.images[552..], [1, 2, 3, 4, 5]);
    }

    #[test]
    fn the_last_sentence_is_the_first_memory_and_nobody_reads_full_stops() {
        let story = vec!["a", "b", ".", "b", "c", "d", "."];
        let sample = Sample { story, question: vec!["d", "a", "?"], answer: "c" };
        let set = StorySet { reading: Reading::Sentences, ..SET };
        let words = Vocabulary::of(set, [&sample].into_iter());
        assert_eq!(words.size(), 5);
        let split = words.encode(&[sample]);
        assert_eq!(split.images.len(), 66);
        assert_eq!(split.images[..12], [2, 3, 4, 0, 0, 0, 1, 2, 0, 0, 0, 0]);
        assert!(split.images[12..60].iter().all(|&byte| byte == 0));
        assert_eq!(split.images[60..], [4, 1, 0, 0, 0, 0]);
        assert_eq!(split.labels, [3]);
    }
}

//! From words to bytes.

use std::collections::BTreeMap;

use super::parser::Sample;
use super::{QUESTION_LENGTH, STORY_LENGTH};
use crate::data::Split;

/// The number of each word: its place among all words in the order of their characters, from 1. 0 is padding.
pub(super) struct Vocabulary<'t>(BTreeMap<&'t str, u32>);

impl<'t> Vocabulary<'t> {
    /// All words of stories, questions and answers.
    pub(super) fn of<'s>(samples: impl Iterator<Item = &'s Sample<'t>>) -> Self
    where
        't: 's,
    {
        let mut words = BTreeMap::new();
        for sample in samples {
            words.extend(sample.story.iter().chain(&sample.question).chain([&sample.answer]).map(|&word| (word, 0)));
        }
        for (number, place) in (1..).zip(words.values_mut()) {
            *place = number;
        }
        Self(words)
    }

    /// Different numbers that there are, the padding's included.
    pub(super) fn size(&self) -> u32 {
        u32::try_from(self.0.len() + 1).unwrap_or(u32::MAX)
    }

    /// A story and its question are one image of 552 + 5 bytes, the answer is its label. Each of the two is filled up
    /// with zeros at its front, or cut there.
    ///
    /// # Panics
    /// The vocabulary is not that of the samples, or has more numbers than a byte.
    pub(super) fn encode(&self, samples: &[Sample<'_>]) -> Split {
        let number = |word: &str| u8::try_from(self.0[word]).expect("a small vocabulary");
        let row = (STORY_LENGTH + QUESTION_LENGTH) as usize;
        let mut images = vec![0; samples.len() * row];
        for (image, sample) in images.chunks_exact_mut(row).zip(samples) {
            let (story, question) = image.split_at_mut(STORY_LENGTH as usize);
            for (bytes, words) in [(story, &sample.story), (question, &sample.question)] {
                for (byte, word) in bytes.iter_mut().rev().zip(words.iter().rev()) {
                    *byte = number(word);
                }
            }
        }
        Split { images, labels: samples.iter().map(|sample| number(sample.answer)).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_numbered_in_order_and_filled_up_at_the_front() {
        let sample = Sample { story: vec!["b", "c", "."], question: vec!["a", "?"], answer: "c" };
        let words = Vocabulary::of([&sample].into_iter());
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
        story.extend(vec!["late"; STORY_LENGTH as usize]);
        let sample = Sample { story, question: vec!["early", "1", "2", "3", "4", "5"], answer: "early" };
        let words = Vocabulary::of([&sample].into_iter());
        let split = words.encode(&[sample]);
        assert!(split.images[..STORY_LENGTH as usize].iter().all(|&byte| byte == 7), "only late words stay");
        assert_eq!(split.images[STORY_LENGTH as usize..], [1, 2, 3, 4, 5]);
    }
}

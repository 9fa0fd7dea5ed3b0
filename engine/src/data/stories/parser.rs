//! Parser of the published text format.
//!
//! A line is `NUMBER sentence` or `NUMBER question<tab>answer<tab>numbers of supporting lines`. 1 begins a new story.

use super::super::DataError;

/// Question with the story up to it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sample<'t> {
    /// Words and punctuation marks of all sentences, excluding questions.
    pub(super) story: Vec<&'t str>,
    pub(super) question: Vec<&'t str>,
    pub(super) answer: &'t str,
}

#[derive(Default)]
struct Story<'t> {
    words: Vec<&'t str>,
    /// Line numbers of sentences.
    sentences: Vec<u32>,
    lines: u32,
}

/// Parses all questions of `text`. Errors name `file` and the line.
pub(super) fn parse<'t>(file: &str, text: &'t str) -> Result<Vec<Sample<'t>>, DataError> {
    let mut samples = Vec::new();
    let mut story = Story::default();
    for (line, content) in (1..).zip(text.lines()) {
        let sample =
            story.read(content).map_err(|reason| DataError::BadLine { file: file.to_owned(), line, reason })?;
        samples.extend(sample);
    }
    Ok(samples)
}

impl<'t> Story<'t> {
    fn read(&mut self, line: &'t str) -> Result<Option<Sample<'t>>, String> {
        let numbered = line.split_once(' ').and_then(|(number, rest)| Some((number.parse::<u32>().ok()?, rest)));
        let (number, content) = numbered.ok_or("it does not begin with a number and a space")?;
        if number == 1 {
            *self = Self::default();
        }
        let expected = self.lines + 1;
        if number != expected {
            return Err(format!("its number is {number} where {expected}, or 1 for a new story, is expected"));
        }
        self.lines = number;
        let Some((question, rest)) = content.split_once('\t') else {
            let words = tokens(content);
            if words.is_empty() {
                return Err("it has no words".to_owned());
            }
            self.words.extend(words);
            self.sentences.push(number);
            return Ok(None);
        };
        let (answer, supporting) = rest.split_once('\t').ok_or("it has an answer but no supporting lines")?;
        let is_known = |number: &&str| number.parse().is_ok_and(|number| self.sentences.contains(&number));
        if let Some(number) = supporting.split_whitespace().find(|number| !is_known(number)) {
            return Err(format!("it is supported by `{number}`, which is not an earlier sentence of its story"));
        }
        if supporting.trim().is_empty() {
            return Err("it has no supporting lines".to_owned());
        }
        let question = tokens(question);
        let answer = answer.trim();
        if question.is_empty() || answer.is_empty() {
            return Err("its question or its answer is empty".to_owned());
        }
        Ok(Some(Sample { story: self.words.clone(), question, answer }))
    }
}

pub(super) fn is_word(token: &str) -> bool {
    token.starts_with(is_of_words)
}

fn is_of_words(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Splits into words and runs of punctuation marks.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    for part in text.split_whitespace() {
        let mut rest = part;
        while let Some(first) = rest.chars().next() {
            let end = rest.find(|c| is_of_words(c) != is_of_words(first)).unwrap_or(rest.len());
            let (token, after) = rest.split_at(end);
            tokens.push(token);
            rest = after;
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXCERPT: &str = "1 Ina walked to the shed.\n\
                           2 Olav came back to the barn.\n\
                           3 Where is Ina? \tshed\t1\n\
                           4 Ina took the rope there.\n\
                           5 Where is the rope? \tshed\t4 1\n\
                           1 Olav ran to the pier.\n\
                           2 Where is Olav?\tpier\t1\n";

    #[test]
    fn sample_is_the_story_so_far_without_questions() {
        let samples = parse("own.txt", EXCERPT).unwrap();
        let shown: Vec<String> = samples
            .iter()
            .map(|s| format!("{} | {} | {}", s.story.join(" "), s.question.join(" "), s.answer))
            .collect();
        let expected = [
            "Ina walked to the shed . Olav came back to the barn . | Where is Ina ? | shed",
            "Ina walked to the shed . Olav came back to the barn . Ina took the rope there . | Where is the rope ? | shed",
            "Olav ran to the pier . | Where is Olav ? | pier",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn parses_windows_line_endings() {
        let windows = EXCERPT.replace('\n', "\r\n");
        assert_eq!(parse("own.txt", &windows).unwrap(), parse("own.txt", EXCERPT).unwrap());
    }

    #[test]
    fn splits_words_from_punctuation() {
        assert_eq!(tokens(" Mind the gap, Ina!  "), ["Mind", "the", "gap", ",", "Ina", "!"]);
    }

    #[test]
    fn bad_line_error_reports_number_and_reason() {
        let cases = [
            ("Ina ran.", 1, "does not begin with a number"),
            ("1 Ina ran.\n3 Olav ran.", 2, "its number is 3 where 2"),
            ("1 Ina ran.\n2 ", 2, "no words"),
            ("1 Ina ran.\n2 Where is Ina?\tpier", 2, "no supporting lines"),
            ("1 Ina ran.\n2 Where is Ina?\tpier\t", 2, "no supporting lines"),
            ("1 Ina ran.\n2 Where is Ina?\tpier\t2", 2, "supported by `2`"),
            ("1 Ina ran.\n2 Where is Ina?\tpier\tx", 2, "supported by `x`"),
            ("1 Ina ran.\n2 Where is Ina?\t\t1", 2, "is empty"),
            ("1 Ina ran.\n\n2 Olav ran.", 2, "does not begin with a number"),
        ];
        for (text, line, fault) in cases {
            let error = parse("own.txt", text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("own.txt, line {line}: ")) && error.contains(fault), "{text}: {error}");
        }
    }
}

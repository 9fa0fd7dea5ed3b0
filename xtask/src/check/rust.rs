//! Rust source as far as the checks need to understand it: what is code, and what is only a comment, a text or a
//! test.

/// The source with comments, the contents of literals, and `#[cfg(test)]` items turned into spaces. Lines stay where
/// they are.
pub(super) fn code_outside_tests(source: &str) -> String {
    without_tests(&code(source))
}

/// The source with comments and the contents of string and character literals turned into spaces.
pub(super) fn code(source: &str) -> String {
    let mut letters = Letters { rest: source, out: String::with_capacity(source.len()) };
    while let Some(letter) = letters.rest.chars().next() {
        let rest = letters.rest;
        if rest.starts_with("//") {
            letters.blank(rest.find('\n').unwrap_or(rest.len()));
        } else if rest.starts_with("/*") {
            letters.blank(block_comment(rest));
        } else if let Some(length) = raw_string(rest).filter(|_| !letters.inside_word()) {
            letters.blank(length);
        } else if letter == '"' {
            letters.blank(quoted(rest, '"'));
        } else if letter == '\'' && is_character(rest) {
            letters.blank(quoted(rest, '\''));
        } else {
            letters.keep(letter.len_utf8());
        }
    }
    letters.out
}

struct Letters<'a> {
    rest: &'a str,
    out: String,
}

impl Letters<'_> {
    fn keep(&mut self, bytes: usize) {
        let (taken, rest) = self.rest.split_at(bytes);
        self.out.push_str(taken);
        self.rest = rest;
    }

    fn blank(&mut self, bytes: usize) {
        let (taken, rest) = self.rest.split_at(bytes);
        self.out.extend(taken.chars().map(|letter| if letter == '\n' { '\n' } else { ' ' }));
        self.rest = rest;
    }

    fn inside_word(&self) -> bool {
        self.out.chars().next_back().is_some_and(|letter| letter.is_alphanumeric() || letter == '_')
    }
}

/// The length of the block comment at the beginning; comments nest.
fn block_comment(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// The length of the raw string at the beginning, if there is one.
fn raw_string(text: &str) -> Option<usize> {
    let start = text.strip_prefix("br").or_else(|| text.strip_prefix('r'))?;
    let hashes = start.len() - start.trim_start_matches('#').len();
    let body = start[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let before = text.len() - body.len();
    Some(body.find(&end).map_or(text.len(), |at| before + at + end.len()))
}

/// The length of the literal at the beginning, which ends at the next quote that is not escaped.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if letter == '\\' {
            escaped = true;
        } else if letter == quote {
            return at + 1;
        }
    }
    text.len()
}

/// Whether the quote at the beginning opens a character, not a lifetime.
fn is_character(text: &str) -> bool {
    let mut letters = text.chars().skip(1);
    match letters.next() {
        Some('\\') => true,
        Some(_) => letters.next() == Some('\''),
        None => false,
    }
}

/// Blanks every item that follows a `#[cfg(test)]`: to its closing brace, or to its semicolon when it has no body.
fn without_tests(code: &str) -> String {
    let mut out = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(at) = rest.find("#[cfg(test)]").into_iter().chain(rest.find("#[cfg(all(test")).min() {
        out.push_str(&rest[..at]);
        let length = item(&rest[at..]);
        out.extend(rest[at..at + length].chars().map(|letter| if letter == '\n' { '\n' } else { ' ' }));
        rest = &rest[at + length..];
    }
    out + rest
}

fn item(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            ';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The line numbers, from 1, of the lines on which a text occurs as whole words.
pub(super) fn lines_with(code: &str, words: &str) -> Vec<usize> {
    let is_word = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    let begins_with_word = is_word(words.chars().next());
    let ends_with_word = is_word(words.chars().next_back());
    let is_whole = |line: &str, at: usize| {
        let goes_on_before = begins_with_word && is_word(line[..at].chars().next_back());
        let goes_on_after = ends_with_word && is_word(line[at + words.len()..].chars().next());
        !goes_on_before && !goes_on_after
    };
    code.lines()
        .enumerate()
        .filter(|(_, line)| line.match_indices(words).any(|(at, _)| is_whole(line, at)))
        .map(|(number, _)| number + 1)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_texts_are_no_code() {
        let source = "a(); // wgpu\n/* wgpu /* nested */ wgpu */ b();\nlet s = \"wgpu \\\" wgpu\"; c();\n\
                      let r = r#\"wgpu \" wgpu\"#; d::<'a>('\"', '\\''); e();\n";
        let code = code(source);
        assert!(!code.contains("wgpu"), "{code}");
        for call in ["a()", "b()", "c()", "d::<'a>", "e()"] {
            assert!(code.contains(call), "{call} is not in {code}");
        }
        assert_eq!(code.lines().count(), source.lines().count());
    }

    #[test]
    fn what_is_compiled_only_for_tests_is_left_out_and_nothing_after_it() {
        let source = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() { println!(\"}\"); }\n}\nfn c() {}\n#[cfg(test)]\nmod more;\nfn d() {}\n";
        let code = code_outside_tests(source);
        assert!(!code.contains("println") && !code.contains("more"), "{code}");
        assert!(code.contains("fn a") && code.contains("fn c") && code.contains("fn d"), "{code}");
        assert_eq!(lines_with(&code, "fn d"), [9]);
    }

    #[test]
    fn words_are_whole() {
        assert_eq!(lines_with("eprintln!()\nprintln!()\nmy_println!()", "println!"), [2]);
        assert_eq!(lines_with("burn_wgpu::x\nwgpu::x\nDevice::wgpu(1)", "wgpu::"), [2]);
    }
}

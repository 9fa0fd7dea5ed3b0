//! Parses the page's texts: Fluent files (<https://projectfluent.org>), with one folder per language and one file per
//! part of the page. Only messages, arguments and plurals of Fluent are supported; anything else is an error.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use fluent_syntax::ast::{Entry, Expression, InlineExpression, Pattern, PatternElement, Variant, VariantKey};
use fluent_syntax::parser;

/// Languages of the page, in the order of `words::Language::ALL`.
pub(crate) const LANGUAGES: [&str; 2] = ["en", "de"];

/// Text of the page in all languages.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) name: String,
    /// In the order of [`LANGUAGES`].
    pub(crate) texts: Vec<Text>,
    /// In alphabetical order.
    pub(crate) arguments: Vec<String>,
    /// Argument that selects between singular and plural.
    pub(crate) counted: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text {
    /// Text for exactly one, if it differs.
    pub(crate) one: Option<String>,
    pub(crate) other: String,
}

/// Text with its arguments.
#[derive(Debug, Default)]
struct Read {
    text: Text,
    arguments: BTreeSet<String>,
    counted: Option<String>,
}

/// Parses the messages of all files below `folder`, in alphabetical order.
///
/// # Errors
/// All problems, each with its file and name.
pub(crate) fn read(folder: &Path) -> Result<Vec<Message>, Vec<String>> {
    let mut problems = Vec::new();
    let languages = LANGUAGES.map(|language| read_language(&folder.join(language), language, &mut problems));
    let names: BTreeSet<&String> = languages.iter().flat_map(BTreeMap::keys).collect();
    let messages: Vec<Message> =
        names.into_iter().filter_map(|name| join_languages(name, &languages, &mut problems)).collect();
    if problems.is_empty() { Ok(messages) } else { Err(problems) }
}

/// Merges the texts of all languages.
fn join_languages(name: &str, languages: &[BTreeMap<String, Read>], problems: &mut Vec<String>) -> Option<Message> {
    let mut found = Vec::new();
    for (language, texts) in LANGUAGES.iter().zip(languages) {
        match texts.get(name) {
            Some(read) => found.push(read),
            None => {
                let group = name.split('_').next().unwrap_or(name);
                problems.push(format!("app/locales/{language}/{group}.ftl lacks `{name}`, which another language has"));
            }
        }
    }
    let arguments = &found.first()?.arguments;
    for (language, read) in LANGUAGES.iter().zip(&found).skip(1) {
        if read.arguments != *arguments && found.len() == LANGUAGES.len() {
            let listed =
                |of: &BTreeSet<String>| of.iter().map(|name| format!("${name}")).collect::<Vec<_>>().join(", ");
            problems.push(format!(
                "`{name}` has the arguments ({}) in {}, but ({}) in {language}",
                listed(arguments),
                LANGUAGES[0],
                listed(&read.arguments)
            ));
        }
    }
    Some(Message {
        name: name.to_owned(),
        texts: found.iter().map(|read| read.text.clone()).collect(),
        arguments: arguments.iter().cloned().collect(),
        counted: found.iter().find_map(|read| read.counted.clone()),
    })
}

/// Parses the texts of one language, by name.
fn read_language(folder: &Path, language: &str, problems: &mut Vec<String>) -> BTreeMap<String, Read> {
    let mut texts = BTreeMap::new();
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            problems.push(format!("app/locales/{language} cannot be read: {error}"));
            return texts;
        }
    };
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "ftl")) {
        let group = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let place = format!("app/locales/{language}/{group}.ftl");
        match fs::read_to_string(file) {
            Ok(source) => read_file(&source, &group, &place, &mut texts, problems),
            Err(error) => problems.push(format!("{place} cannot be read: {error}")),
        }
    }
    texts
}

fn read_file(source: &str, group: &str, place: &str, texts: &mut BTreeMap<String, Read>, problems: &mut Vec<String>) {
    let resource = match parser::parse(source) {
        Ok(resource) => resource,
        Err((_, errors)) => {
            for error in errors {
                let line = source[..error.pos.start].matches('\n').count() + 1;
                problems.push(format!("{place}, line {line}: {error}"));
            }
            return;
        }
    };
    for entry in resource.body {
        let message = match entry {
            Entry::Message(message) => message,
            Entry::Term(term) => {
                problems.push(format!("{place}: `-{}` is a term, which the page does not use", term.id.name));
                continue;
            }
            Entry::Comment(_) | Entry::GroupComment(_) | Entry::ResourceComment(_) | Entry::Junk { .. } => continue,
        };
        let name = message.id.name;
        let belongs = name.strip_prefix(group).is_some_and(|rest| rest.starts_with('_'));
        if !belongs || !name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_') {
            problems.push(format!("{place}: `{name}` must be named {group}_…, in small letters, digits and _"));
        }
        let read = match &message.value {
            Some(pattern) if message.attributes.is_empty() => text(pattern),
            _ => Err("must be a text without attributes".to_owned()),
        };
        match read {
            Ok(read) => {
                if texts.insert(name.to_owned(), read).is_some() {
                    problems.push(format!("{place}: `{name}` is there twice"));
                }
            }
            Err(problem) => problems.push(format!("{place}: `{name}` {problem}")),
        }
    }
}

/// Text of a pattern, singular and plural.
fn text(pattern: &Pattern<&str>) -> Result<Read, String> {
    let mut read = Read::default();
    let [one, other] = [true, false].map(|of_one| written(pattern, of_one, &mut read));
    let (one, other) = (one?, other?);
    read.text = Text { one: (one != other).then_some(one), other };
    Ok(read)
}

fn written(pattern: &Pattern<&str>, of_one: bool, read: &mut Read) -> Result<String, String> {
    let mut text = String::new();
    for element in &pattern.elements {
        match element {
            // A line break in a text becomes a space.
            PatternElement::TextElement { value } => text.push_str(&value.replace('\n', " ")),
            PatternElement::Placeable { expression: Expression::Inline(inline) } => match inline {
                InlineExpression::VariableReference { id } => {
                    read.arguments.insert(id.name.to_owned());
                    text.push_str(&format!("{{{}}}", id.name));
                }
                InlineExpression::StringLiteral { value } => text.push_str(value),
                _ => return Err("has something else in braces than an argument ($name)".to_owned()),
            },
            PatternElement::Placeable { expression: Expression::Select { selector, variants } } => {
                let InlineExpression::VariableReference { id } = selector else {
                    return Err("chooses by something else than an argument".to_owned());
                };
                if read.counted.as_ref().is_some_and(|known| known != id.name) {
                    return Err("chooses by two arguments: make it two texts".to_owned());
                }
                read.arguments.insert(id.name.to_owned());
                read.counted = Some(id.name.to_owned());
                text.push_str(&written(variant(variants, of_one)?, of_one, read)?);
            }
        }
    }
    Ok(text)
}

/// Both languages have the plural rules of English in Unicode's CLDR: one, and every other number.
fn variant<'a, 'b>(variants: &'a [Variant<&'b str>], of_one: bool) -> Result<&'a Pattern<&'b str>, String> {
    let of = |wanted: &str| {
        variants.iter().find(|variant| matches!(&variant.key, VariantKey::Identifier { name } if *name == wanted))
    };
    match (variants.len(), of("one"), of("other")) {
        (2, Some(one), Some(other)) => Ok(if of_one { &one.value } else { &other.value }),
        _ => Err("must choose between [one] and *[other], and nothing else".to_owned()),
    }
}

//! Parses the page's texts: Fluent files (<https://projectfluent.org>), with one folder per language and one file per
//! part of the page. Only messages, arguments and plurals of Fluent are supported; anything else is an error.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use fluent_syntax::ast::{Entry, Expression, InlineExpression, Pattern, PatternElement, Variant, VariantKey};
use fluent_syntax::parser;

/// Languages of the page, in the order of `words::PageLanguage::ALL`.
pub(crate) const LANGUAGES: [&str; 2] = ["en", "de"];

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CatalogueMessage {
    pub(crate) name: String,
    /// In the order of [`LANGUAGES`].
    pub(crate) texts: Vec<Text>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text {
    /// Text for exactly one, if it differs.
    pub(crate) one: Option<String>,
    pub(crate) other: String,
    /// In alphabetical order.
    pub(crate) arguments: BTreeSet<String>,
    /// Argument that selects between singular and plural.
    pub(crate) counted: Option<String>,
}

/// Parses the messages of all files below `folder`, in alphabetical order.
///
/// # Errors
/// The first problem, with its file and name.
pub(crate) fn read(folder: &Path) -> Result<Vec<CatalogueMessage>, String> {
    let read = |language| read_language(&folder.join(language), language);
    let languages = LANGUAGES.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let names: BTreeSet<&String> = languages.iter().flat_map(BTreeMap::keys).collect();
    names.into_iter().map(|name| join_languages(name, &languages)).collect()
}

/// Merges the texts of all languages.
fn join_languages(name: &str, languages: &[BTreeMap<String, Text>]) -> Result<CatalogueMessage, String> {
    let mut texts: Vec<Text> = Vec::new();
    for (language, known) in LANGUAGES.iter().zip(languages) {
        let group = name.split('_').next().unwrap_or(name);
        let lacks = || format!("app/locales/{language}/{group}.ftl lacks `{name}`, which another language has");
        let text = known.get(name).ok_or_else(lacks)?;
        let first = &texts.first().unwrap_or(text).arguments;
        if text.arguments != *first {
            let listed = |of: &BTreeSet<_>| of.iter().map(|name| format!("${name}")).collect::<Vec<_>>().join(", ");
            let (first, own) = (listed(first), listed(&text.arguments));
            return Err(format!("`{name}` has the arguments ({first}) in {}, but ({own}) in {language}", LANGUAGES[0]));
        }
        texts.push(text.clone());
    }
    Ok(CatalogueMessage { name: name.to_owned(), texts })
}

/// Parses the texts of one language, by name.
fn read_language(folder: &Path, language: &str) -> Result<BTreeMap<String, Text>, String> {
    let mut texts = BTreeMap::new();
    let unreadable = |error| format!("app/locales/{language} cannot be read: {error}");
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.path();
        // Editors and systems leave other files here, such as `.DS_Store`.
        if file.extension().is_none_or(|ending| ending != "ftl") {
            continue;
        }
        let group = file.file_stem().unwrap_or_default().to_string_lossy();
        let place = format!("app/locales/{language}/{group}.ftl");
        let source = fs::read_to_string(&file).map_err(|error| format!("{place} cannot be read: {error}"))?;
        read_file(&source, &group, &mut texts).map_err(|problem| format!("{place}{problem}"))?;
    }
    Ok(texts)
}

fn read_file(source: &str, group: &str, texts: &mut BTreeMap<String, Text>) -> Result<(), String> {
    let resource = parser::parse(source).map_err(|(_, errors)| {
        let line = source[..errors[0].pos.start].matches('\n').count() + 1;
        format!(", line {line}: {}", errors[0])
    })?;
    for entry in resource.body {
        let message = match entry {
            Entry::Message(message) => message,
            Entry::Term(term) => return Err(format!(": `-{}` is a term, which the page does not use", term.id.name)),
            Entry::Comment(_) | Entry::GroupComment(_) | Entry::ResourceComment(_) | Entry::Junk { .. } => continue,
        };
        let name = message.id.name;
        let belongs = name.strip_prefix(group).is_some_and(|rest| rest.starts_with('_'));
        if !belongs || !name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_') {
            return Err(format!(": `{name}` must be named {group}_…, in small letters, digits and _"));
        }
        let pattern = message.value.as_ref().filter(|_| message.attributes.is_empty());
        let read = pattern.ok_or("must be a text without attributes").and_then(text);
        let read = read.map_err(|problem| format!(": `{name}` {problem}"))?;
        if texts.insert(name.to_owned(), read).is_some() {
            return Err(format!(": `{name}` is there twice"));
        }
    }
    Ok(())
}

/// Text of a pattern, singular and plural.
fn text(pattern: &Pattern<&str>) -> Result<Text, &'static str> {
    let mut text = Text::default();
    let one = written(pattern, true, &mut text)?;
    text.other = written(pattern, false, &mut text)?;
    text.one = Some(one).filter(|one| *one != text.other);
    Ok(text)
}

fn written(pattern: &Pattern<&str>, of_one: bool, read: &mut Text) -> Result<String, &'static str> {
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
                _ => return Err("has something else in braces than an argument ($name)"),
            },
            PatternElement::Placeable { expression: Expression::Select { selector, variants } } => {
                let InlineExpression::VariableReference { id } = selector else {
                    return Err("chooses by something else than an argument");
                };
                if read.counted.as_ref().is_some_and(|known| known != id.name) {
                    return Err("chooses by two arguments: make it two texts");
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
fn variant<'a, 'b>(variants: &'a [Variant<&'b str>], of_one: bool) -> Result<&'a Pattern<&'b str>, &'static str> {
    let of = |wanted: &str| {
        variants.iter().find(|variant| matches!(&variant.key, VariantKey::Identifier { name } if *name == wanted))
    };
    match (variants.len(), of("one"), of("other")) {
        (2, Some(one), Some(other)) => Ok(if of_one { &one.value } else { &other.value }),
        _ => Err("must choose between [one] and *[other], and nothing else"),
    }
}

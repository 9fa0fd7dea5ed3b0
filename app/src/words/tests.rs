use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, iter};

use results::Date;
use results::api::Tier;

use super::*;
use crate::backend::PageBackend;

#[test]
fn texts_are_in_selected_language() {
    assert_eq!(t!(common_skip), "Skip to the content");
    speak(Language::German);
    assert_eq!(t!(common_skip), "Zum Inhalt springen");
}

#[test]
fn plurals_and_grouped_numbers_follow_the_language() {
    let said = || [0_u64, 1, 1204].map(|number| t!(common_results, number = number));
    assert_eq!(said(), ["0 results", "1 result", "1,204 results"]);
    speak(Language::German);
    assert_eq!(said(), ["0 Ergebnisse", "1 Ergebnis", "1.204 Ergebnisse"]);
}

#[test]
fn inserts_arguments_and_keeps_their_braces() {
    let texts = ["{1} before {0}", "{0} nach {1}"];
    assert_eq!(filled(texts, &[&"a {1}", &"b"]), "b before a {1}");
    speak(Language::German);
    assert_eq!(filled(texts, &[&"a {1}", &"b"]), "a {1} nach b");
}

#[test]
fn selects_first_known_preferred_language() {
    assert_eq!(Language::liked(["fr-CH", "de-CH", "en"]), Language::German);
    assert_eq!(Language::liked(["en-GB", "de"]), Language::English);
    assert_eq!(Language::liked(["fr", "dem"]), Language::English);
    assert_eq!(Language::liked([]), Language::English);
}

#[test]
fn formats_numbers_and_days_by_language() {
    let (english, german) = (Language::English, Language::German);
    assert_eq!(english.number("1,234.5 samples/s, 3.5 s"), "1,234.5 samples/s, 3.5 s");
    assert_eq!(german.number("1,234.5 samples/s, 3.5 s."), "1.234,5 samples/s, 3,5 s.");
    assert_eq!([0, 999, 1000, 1_234_567].map(|number| german.grouped(number)), ["0", "999", "1.000", "1.234.567"]);
    let day = || Date { year: 2026, month: 11, day: 5 };
    assert_eq!((english.day(day()), german.day(day())), ("5 Nov 2026".to_owned(), "05.11.2026".to_owned()));
}

#[test]
fn languages_match_build_script() {
    assert_eq!(Language::ALL.map(Language::code), catalogue::LANGUAGES);
}

#[test]
fn stored_text_follows_language_change() {
    let said = Said::new(|| t!(common_results, number = 1204_u64));
    assert_eq!(said.text(), "1,204 results");
    let kept: Said = serde_json::from_str(&serde_json::to_string(&said).unwrap()).unwrap();
    speak(Language::German);
    assert_eq!((kept.text(), &kept), ("1.204 Ergebnisse", &said));
}

#[test]
fn stored_text_falls_back_to_english() {
    let kept: Said = serde_json::from_str(r#"{"en":"fast","fr":"vite"}"#).unwrap();
    speak(Language::German);
    assert_eq!(kept.text(), "fast");
}

#[test]
fn every_text_is_used() {
    let files = sources(Path::new("src")).into_iter().filter(|file| !file.ends_with("tests.rs"));
    let source: String = files.map(|file| fs::read_to_string(file).unwrap()).collect();
    let names: BTreeSet<&str> = source.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).collect();
    let with_more = |group: &str, name: &str, more: &str| ["", more].map(|end| format!("{group}_{name}{end}"));
    let workloads = engine::WORKLOADS.iter().map(|make| format!("network_{}", make().name.replace('-', "_")));
    let metrics = results::METRICS.iter().flat_map(|of| with_more("metric", of.id, "_description"));
    // The last two are facts of devices.
    let facts = results::environment::FACTS.iter().map(|of| of.id).chain(["source", "inferred"]);
    let facts = facts.map(|id| format!("fact_{id}"));
    let backends = PageBackend::ALL.map(|of| with_more("backend", &of.name().replace('-', "_"), "_description"));
    let tiers = [Tier::Proven, Tier::Checked, Tier::Unverified, Tier::Flagged, Tier::Hidden];
    let tiers = tiers.map(|of| with_more("tier", of.name(), "_meaning"));
    assert!(tiers.iter().flatten().all(|name| messages::NAMED.iter().any(|(known, _)| known == name)), "{tiers:?}");
    let by_name = workloads.chain(metrics).chain(facts).chain(backends.into_iter().chain(tiers).flatten());
    let by_name: BTreeSet<String> = by_name.collect();
    let is_unused = |name: &&str| !names.contains(name) && !by_name.contains(*name);
    let unused: Vec<&str> = messages::ALL.iter().map(|(name, _)| *name).filter(is_unused).collect();
    assert!(unused.is_empty(), "no code uses {unused:?}");
}

/// Identical texts are probably copied and not translated.
#[test]
fn identical_translations_are_intentional() {
    let same: Vec<&str> = messages::ALL
        .iter()
        .filter(|(name, [english, german])| english == german && has_words(english) && !ALIKE.contains(name))
        .map(|(name, _)| *name)
        .collect();
    assert!(same.is_empty(), "not translated: {same:?}");
}

/// Texts of several words that are the same in English and German.
const ALIKE: [&str; 3] = ["backend_wgsl", "network_caffe_mnist", "network_theano_mnist"];

/// True for more than one word, if at least one is not an argument.
fn has_words(text: &str) -> bool {
    let outside = text.split('{').filter_map(|part| part.split('}').next_back());
    text.contains(' ') && outside.flat_map(str::chars).any(char::is_alphabetic)
}

/// A sentence in the code would only exist in one language.
#[test]
fn code_contains_no_displayed_sentences() {
    let mut found = Vec::new();
    for file in sources(Path::new("src/page")) {
        for line in fs::read_to_string(&file).unwrap().lines() {
            let code = line.split("// ").next().unwrap_or_default();
            let names = ["class", "reason =", "expect(", "kept(", "series s", "viewBox"];
            if names.iter().any(|name| code.contains(name)) {
                continue;
            }
            let literals = code.split('"').skip(1).step_by(2);
            found.extend(literals.filter(|of| is_sentence(of)).map(|of| format!("{}: {of}", file.display())));
        }
    }
    assert!(found.is_empty(), "give these to app/locales: {found:#?}");
}

/// True for two consecutive words, except for names of formats and states.
fn is_sentence(literal: &str) -> bool {
    let is_word = |word: &str| word.len() > 1 && word.chars().all(char::is_alphabetic);
    let words: Vec<&str> = literal.split_whitespace().collect();
    !["JSON Lines", "being verified"].contains(&literal)
        && words.windows(2).any(|pair| pair.iter().all(|of| is_word(of)))
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { iter::once(path).collect() }).collect()
}

/// Result of the build script for files with these contents.
fn read(english: &str, german: &str) -> Result<Vec<catalogue::Message>, Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    for (language, content) in BTreeMap::from([("en", english), ("de", german)]) {
        fs::create_dir(folder.path().join(language)).unwrap();
        fs::write(folder.path().join(language).join("part.ftl"), content).unwrap();
    }
    catalogue::read(folder.path())
}

#[test]
fn missing_translation_error_names_file() {
    let problems = read("part_a = A\npart_b = B\n", "part_a = Ä\n").unwrap_err();
    assert_eq!(problems, ["app/locales/de/part.ftl lacks `part_b`, which another language has"]);
    let problems = read("part_a = A\n", "part_a = Ä\npart_b = B\n").unwrap_err();
    assert_eq!(problems, ["app/locales/en/part.ftl lacks `part_b`, which another language has"]);
}

#[test]
fn rejects_arguments_that_differ_from_english() {
    let problems = read("part_a = A { $one }\n", "part_a = Ä { $other }\n").unwrap_err();
    assert_eq!(problems, ["`part_a` has the arguments ($one) in en, but ($other) in de"]);
}

#[test]
fn rejects_unsupported_fluent_syntax() {
    let refused = |text: &str| read(text, text).unwrap_err()[0].clone();
    assert!(refused("-part_term = A\n").contains("is a term"));
    assert!(refused("other_a = A\n").contains("must be named part_…"));
    assert!(refused("part_a = A\npart_a = B\n").contains("is there twice"));
    assert!(refused("part_a = { NUMBER($a) }\n").contains("something else in braces"));
    assert!(refused("part_a = { $a ->\n    [few] A\n   *[other] B\n }\n").contains("[one] and *[other]"));
    assert!(refused("part_a\n").contains("line"));
}

#[test]
fn accepts_multiline_texts_and_plurals() {
    let source = "part_a = Found { $n ->\n    [one] one run\n   *[other] { $n } runs\n } of\n    { $who }.\n";
    let messages = read(source, source).unwrap();
    let text = catalogue::Text {
        one: Some("Found one run of {who}.".to_owned()),
        other: "Found {n} runs of {who}.".to_owned(),
    };
    assert_eq!(messages[0].texts, [text.clone(), text]);
    assert_eq!(
        (messages[0].arguments.clone(), messages[0].counted.as_deref()),
        (vec!["n".to_owned(), "who".to_owned()], Some("n"))
    );
}

#[path = "../../build/catalogue.rs"]
mod catalogue;

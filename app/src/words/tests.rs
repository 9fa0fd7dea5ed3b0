use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, iter};

use results::api::Tier;

use super::*;
use crate::backend::PageBackend;

#[test]
fn texts_and_their_arguments_are_in_selected_language() {
    let texts = ["{1} before {0}", "{0} nach {1}"];
    let said = || [0_u64, 1, 1204].map(|number| t!(common_results, number));
    let results = ["0 results", "1 result", "1,204 results"].map(str::to_owned);
    assert_eq!((t!(common_skip), said()), ("Skip to the content", results));
    assert_eq!(filled(texts, &["a {1}", "b"]), "b before a {1}");
    speak(PageLanguage::German);
    let results = ["0 Ergebnisse", "1 Ergebnis", "1.204 Ergebnisse"].map(str::to_owned);
    assert_eq!((t!(common_skip), said()), ("Zum Inhalt springen", results));
    assert_eq!(filled(texts, &["a {1}", "b"]), "a {1} nach b");
}

#[test]
fn selects_first_known_preferred_language_of_the_catalogue() {
    assert_eq!(PageLanguage::liked(["fr-CH", "de-CH", "en"]), PageLanguage::German);
    assert_eq!(PageLanguage::liked(["en-GB", "de"]), PageLanguage::English);
    assert_eq!(PageLanguage::liked(["fr", "dem"]), PageLanguage::English);
    assert_eq!(PageLanguage::liked([]), PageLanguage::English);
    assert_eq!(PageLanguage::ALL.map(PageLanguage::name), catalogue::LANGUAGES);
}

#[test]
fn formats_numbers_by_language() {
    let (english, german) = (PageLanguage::English, PageLanguage::German);
    assert_eq!(english.number("1,234.5 samples/s, 3.5 s"), "1,234.5 samples/s, 3.5 s");
    assert_eq!(german.number("1,234.5 samples/s, 3.5 s."), "1.234,5 samples/s, 3,5 s.");
    assert_eq!([0, 999, 1000, 1_234_567].map(|number| german.grouped(number)), ["0", "999", "1.000", "1.234.567"]);
}

#[test]
fn stored_text_follows_language_change() {
    let said = Said::new(|| t!(common_results, number = 1204_u64));
    assert_eq!(said.text(), "1,204 results");
    let kept: Said = serde_json::from_str(&serde_json::to_string(&said).unwrap()).unwrap();
    speak(PageLanguage::German);
    assert_eq!((kept.text(), &kept), ("1.204 Ergebnisse", &said));
    let kept: Said = serde_json::from_str(r#"{"en":"fast","fr":"vite"}"#).unwrap();
    assert_eq!(kept.text(), "fast", "English is the fallback");
}

#[test]
fn every_text_is_used() {
    let files = sources(Path::new("src")).into_iter().filter(|file| !file.ends_with("tests.rs"));
    let source: String = files.map(|file| fs::read_to_string(file).unwrap()).collect();
    let names: BTreeSet<&str> = source.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).collect();
    let with_more = |group: &str, name: &str, more: &str| ["", more].map(|end| format!("{group}_{name}{end}"));
    let suites = engine::SUITES.iter().flat_map(|of| with_more("network_suite", of.name, "_description"));
    let workloads = engine::WORKLOADS.iter().map(|make| format!("network_{}", make().name.replace('-', "_")));
    let metrics = results::METRICS.iter().flat_map(|of| with_more("metric", of.id, "_description"));
    // The last two are facts of devices.
    let facts = results::environment::FACTS.iter().map(|(id, _)| *id).chain(["source", "inferred"]);
    let facts = facts.map(|id| format!("fact_{id}"));
    let backends = PageBackend::ALL.map(|of| with_more("backend", &of.name().replace('-', "_"), "_description"));
    let tiers = [Tier::Proven, Tier::Checked, Tier::Unverified, Tier::Flagged, Tier::Hidden];
    let tiers = tiers.map(|of| with_more("tier", of.name(), "_meaning"));
    assert!(tiers.iter().flatten().all(|name| messages::NAMED.iter().any(|(known, _)| known == name)), "{tiers:?}");
    let others = backends.into_iter().chain(tiers).flatten();
    let by_name: BTreeSet<String> = workloads.chain(suites).chain(metrics).chain(facts).chain(others).collect();
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
            let names = ["class", "reason =", "expect(", "kept(", "viewBox"];
            if names.iter().any(|name| code.contains(name)) {
                continue;
            }
            let parts = code.split('"');
            // The first literal of `table(` is a class.
            let literals =
                parts.clone().zip(parts.skip(1)).step_by(2).filter(|(before, _)| !before.ends_with("table("));
            let literals = literals.map(|(_, literal)| literal);
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

fn read(english: &str, german: &str) -> Result<Vec<catalogue::CatalogueMessage>, String> {
    let folder = tempfile::tempdir().unwrap();
    for (language, content) in [("en", english), ("de", german)] {
        fs::create_dir(folder.path().join(language)).unwrap();
        fs::write(folder.path().join(language).join("part.ftl"), content).unwrap();
    }
    catalogue::read(folder.path())
}

#[test]
fn wrong_texts_are_refused_with_their_place() {
    let lacks = |of: &str| format!("app/locales/{of}/part.ftl lacks `part_b`, which another language has");
    let other = "`part_a` has the arguments ($one) in en, but ($other) in de";
    for (english, german, problem) in [
        ("part_a = A\npart_b = B\n", "part_a = Ä\n", lacks("de")),
        ("part_a = A\n", "part_a = Ä\npart_b = B\n", lacks("en")),
        ("part_a = A { $one }\n", "part_a = Ä { $other }\n", other.to_owned()),
    ] {
        assert_eq!(read(english, german).unwrap_err(), problem);
    }
    for (text, problem) in [
        ("-part_term = A\n", "is a term"),
        ("other_a = A\n", "must be named part_…"),
        ("part_a = A\npart_a = B\n", "is there twice"),
        ("part_a = { NUMBER($a) }\n", "something else in braces"),
        ("part_a = { $a ->\n    [few] A\n   *[other] B\n }\n", "[one] and *[other]"),
        ("part_a\n", "part.ftl, line "),
    ] {
        let found = read(text, text).unwrap_err();
        assert!(found.starts_with("app/locales/en/part.ftl") && found.contains(problem), "{found}");
    }
}

#[test]
fn accepts_multiline_texts_and_plurals() {
    let source = "part_a = Found { $n ->\n    [one] one run\n   *[other] { $n } runs\n } of\n    { $who }.\n";
    let messages = read(source, source).unwrap();
    let text = catalogue::Text {
        one: Some("Found one run of {who}.".to_owned()),
        other: "Found {n} runs of {who}.".to_owned(),
        arguments: ["n", "who"].map(str::to_owned).into(),
        counted: Some("n".to_owned()),
    };
    assert_eq!(messages[0].texts, [text.clone(), text]);
}

#[path = "../../build/catalogue.rs"]
mod catalogue;

//! The choice of language, and the English that must not remain in German. `accessible.rs` looks for it in each state.

use std::path::Path;
use std::time::Duration;

use browser_tests::{Chromium, Page, Setup, TIMEOUT, drive};
use fantoccini::Locator;
use serde_json::Value;

/// Minimum length of a fragment that identifies its text. Shorter ones may be names.
const MIN_PART_LENGTH: usize = 12;

fn read_texts(language: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../app/locales").join(language);
    let mut texts = Vec::new();
    for file in std::fs::read_dir(folder).unwrap() {
        // Long texts continue in indented lines.
        let file = std::fs::read_to_string(file.unwrap().path()).unwrap().replace("\n ", " ");
        let messages = file.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(" = "));
        texts.extend(messages.map(|(_, text)| text.split_whitespace().collect::<Vec<_>>().join(" ")));
    }
    texts
}

/// English texts that do not occur in German: whole texts, and fragments of texts with arguments.
pub(crate) struct English {
    whole: Vec<String>,
    parts: Vec<String>,
}

impl English {
    pub(crate) fn new() -> Self {
        let (english, german) = (read_texts("en"), read_texts("de"));
        let occurs_in_german = |text: &str| german.iter().any(|translation| translation.contains(text));
        let (mut whole, mut parts) = (Vec::new(), Vec::new());
        for text in &english {
            if !text.contains('{') && !occurs_in_german(text) {
                whole.push(text.clone());
            }
            let split = text.split(['{', '}', '[', ']', '*']).map(str::trim);
            let is_distinctive =
                |part: &&str| part.len() >= MIN_PART_LENGTH && part.contains(' ') && !part.starts_with('$');
            parts.extend(split.filter(is_distinctive).filter(|part| !occurs_in_german(part)).map(str::to_owned));
        }
        assert!(whole.len() > 300 && parts.len() > 300, "{} and {}", whole.len(), parts.len());
        Self { whole, parts }
    }

    /// Fails if the page contains English, declares another language than German, or scrolls sideways.
    pub(crate) async fn assert_none_in(&self, page: &Chromium, place: &str) {
        let texts = page.ask(include_str!("texts.js")).await;
        let texts: Vec<&str> = texts.as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert!(texts.len() > 10, "{place}: {texts:?}");
        let is_english = |text: &&&str| {
            self.whole.iter().any(|whole| whole == *text) || self.parts.iter().any(|part| text.contains(part.as_str()))
        };
        let left: Vec<_> = texts.iter().filter(is_english).collect();
        assert!(left.is_empty(), "{place} still contains {left:#?}");
        assert_eq!(page.attribute("html", "lang").await.as_deref(), Some("de"), "{place}");
        page.assert_never_scrolls_sideways().await;
    }
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn a_language_change_is_stored_and_keeps_the_run() {
    drive(Setup::USUAL, async |page| {
        page.start("/?workload=keras-mnist-mlp&batch=32&seconds=8").await;
        page.wait_for_status(TIMEOUT, |text| text == "Network 1 of 1: training").await;
        assert_eq!(page.ask("() => window.gradmark.finished === undefined").await, false);
        page.choose("Language", "Deutsch").await;
        page.wait_for_status(TIMEOUT, |text| text == "Netz 1 von 1: Training").await;
        assert_eq!(page.attribute("html", "lang").await.as_deref(), Some("de"));
        // The long title has to fit next to the button.
        page.set_appearance(Setup { size: (360, 740), ..Setup::USUAL }).await.unwrap();
        page.assert_never_scrolls_sideways().await;
        page.set_appearance(Setup::USUAL).await.unwrap();
        let state = page.ask("async () => (await window.gradmark.finished).state").await;
        assert_eq!(state, "finished", "the run went on");
        page.wait_for("heading", "Ergebnis dieses Laufs").await;
        page.choose("Sprache", "English").await;
        page.wait_for("heading", "Your result").await;
        page.wait_for("table", "Your runs").await;
        let noted = page.text("#own-runs tbody th").await.unwrap();
        assert!(noted.contains("test accuracy"), "the stored run is not in English: {noted}");
        page.choose("Language", "Deutsch").await;
        page.wait_for("table", "Eigene Läufe").await;
        let noted = page.text("#own-runs tbody th").await.unwrap();
        assert!(noted.contains("Testgenauigkeit"), "{noted}");
        let own_runs = page.client().find_all(Locator::Css("#own-runs tbody tr")).await.unwrap();
        assert_eq!(own_runs.len(), 1, "the run is stored more than once");
        page.open_to("/compare", "heading", "Frameworks vergleichen").await;
        page.choose("Sprache", "English").await;
        page.open_to("/", "heading", "How fast does your GPU learn?").await;
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn language_and_theme_follow_the_browser_until_chosen() {
    drive(Setup::NO_GPU, async |page| {
        page.open_to("/?batch=32", "table", "Published hardware").await;
        page.click_css("details.options > summary").await;
        page.choose("Language", "Deutsch").await;
        page.wait_for("heading", "Wie schnell lernt diese GPU?").await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(page.attribute("details.options", "open").await.is_some(), "the settings are closed");
        assert_eq!(page.ask("() => document.activeElement.id").await, "language");
        assert_eq!(page.ask("() => document.querySelector('input[name=batch]').value").await, "32");

        page.ask("() => localStorage.clear()").await;
        page.add_init_script("Object.defineProperty(navigator, 'languages', { get: () => ['fr', 'de-AT', 'en'] });")
            .await;
        page.open_to("/", "heading", "Wie schnell lernt diese GPU?").await;
        page.open_to("/?language=en", "heading", "How fast does your GPU learn?").await;
        page.choose("Language", "Deutsch").await;
        page.wait_for("heading", "Wie schnell lernt diese GPU?").await;
        let query = page.ask("() => location.search").await;
        assert_eq!(query, "?language=de", "the URL follows the choice");

        // The theme is stored and overrides the system's.
        page.open_to("/?language=en", "heading", "How fast does your GPU learn?").await;
        let background = "() => getComputedStyle(document.body).backgroundColor";
        let light = page.ask(background).await;
        page.choose("Colors", "Dark").await;
        let dark = page.ask(background).await;
        assert_ne!(dark, light);
        page.open_to("/compare", "heading", "Compare frameworks").await;
        assert_eq!(page.ask(background).await, dark, "the theme is not stored");
        page.set_appearance(Setup { dark: true, ..Setup::NO_GPU }).await.unwrap();
        page.choose("Colors", "Light").await;
        assert_eq!(page.ask(background).await, light, "the system overrides the theme");
    });
}

//! Accessibility of each page, state, theme and language, checked by axe-core, and no English in German.

use std::{env, fs};

use browser_tests::{Chromium, Page, Setup, TIMEOUT, drive, skipped, tour_comparison, tour_run};

use crate::german::English;

const APPEARANCES: [Setup; 3] = [
    Setup { dark: true, ..Setup::USUAL },
    Setup::PHONE,
    // The default is last, so that the next state begins with it.
    Setup::USUAL,
];

/// Checker that collects the violations found by axe-core.
pub(crate) struct AxeCheck {
    axe: Option<String>,
    /// Violations, each with the state of the page.
    violations: Vec<String>,
}

impl AxeCheck {
    /// Loads axe-core from the path in `GRADMARK_AXE`. `cargo xtask test` downloads it and sets the variable. Without
    /// it, reports that nothing is checked.
    pub(crate) fn new() -> Self {
        let path = env::var_os("GRADMARK_AXE");
        if path.is_none() {
            skipped("axe-core could not be downloaded, or GRADMARK_AXE is not set");
        }
        let axe = path.map(|path| fs::read_to_string(path).expect("GRADMARK_AXE is the path of a script"));
        Self { axe, violations: Vec::new() }
    }

    pub(crate) fn finish(self) {
        assert!(self.violations.is_empty(), "{}", self.violations.join("\n"));
    }

    pub(crate) async fn check(&mut self, page: &impl Page, state: &str) {
        // The content security policy does not apply to the driver's scripts.
        let Some(script) = &self.axe else { return };
        page.ask(&format!("() => {{ if (!window.axe) {{ {script} }} }}")).await;
        let found = page.ask(include_str!("find_violations.js")).await;
        assert!(found["engine"].is_string(), "{found}");
        let violations = found["violations"].as_array().expect("a list");
        self.violations.extend(violations.iter().map(|line| format!("{state}: {}", line.as_str().expect("a line"))));
    }

    /// Checks the page in each appearance, and in German, where nothing of `english` may remain.
    async fn check_variants(&mut self, page: &Chromium, english: Option<&English>, state: &str) {
        for setup in APPEARANCES {
            page.set_appearance(setup).await.expect("the appearance changes");
            let (width, theme) = (setup.size.0, if setup.dark { "dark" } else { "light" });
            self.check(page, &format!("{state}, {width} wide, {theme}")).await;
        }
        page.set_language("de").await;
        self.check(page, &format!("{state}, German")).await;
        if let Some(english) = english {
            english.assert_none_in(page, state).await;
        }
        page.set_language("en").await;
    }
}

/// Expands all details, because axe-core skips hidden content.
pub(crate) async fn unfold(page: &impl Page) {
    let open = "() => document.querySelectorAll('details').forEach((details) => { details.open = true; })";
    page.ask(open).await;
}

#[test]
#[ignore = "axe checks every state"]
fn pages_are_accessible_from_start_to_deletion() {
    drive(Setup::USUAL, async |page| {
        let english = English::new();
        let mut axe = AxeCheck::new();
        // The first run is long enough for the checks on a busy machine.
        let paths = ["seconds=120", "steps=5"].map(|length| format!("/?workload=keras-mnist-mlp&batch=32&{length}"));
        tour_run(page, paths.each_ref().map(String::as_str), async |state| {
            if ["start", "details", "run"].contains(&state) {
                unfold(page).await;
            }
            axe.check_variants(page, Some(&english), state).await;
            if state == "details" {
                page.set_language("de").await;
                let accuracy = page.text("[data-metric=accuracy] td").await.unwrap();
                assert!(accuracy.contains(',') && !accuracy.contains('.'), "no decimal comma: {accuracy}");
                page.set_language("en").await;
            }
        })
        .await;
        axe.finish();
    });
}

#[test]
#[ignore = "axe checks every state"]
fn a_comparison_is_accessible() {
    drive(Setup::USUAL, async |page| {
        let mut axe = AxeCheck::new();
        let path = "/compare?workload=keras-mnist-mlp&batch=8&steps=20&compare=wgsl,jax-js-wasm";
        tour_comparison(page, path, async |state| {
            if state != "comparing" {
                unfold(page).await;
            }
            axe.check_variants(page, None, state).await;
        })
        .await;
        axe.finish();
    });
}

#[test]
#[ignore = "axe checks every state"]
fn empty_and_missing_pages_are_accessible_and_in_german() {
    // Paths and headings. An empty heading is any.
    let pages = [
        ("/compare", "Frameworks vergleichen"),
        ("/compare?seeds=many", "Frameworks vergleichen"),
        ("/leaderboard", "Bestenliste"),
        ("/leaderboard?leaderboard=runs", ""),
        ("/leaderboard?leaderboard-class=processor", "Bestenliste"),
        ("/devices", "Welches Gerät trainiert ein Netz am schnellsten?"),
        ("/tab-speedrun", "Speedrun"),
        ("/file", "Ergebnisdatei anzeigen"),
        ("/moderation", "Moderationsprotokoll"),
        ("/side-by-side", ""),
        ("/side-by-side?runs=a,b", "Das lässt sich nicht anzeigen"),
        ("/runs/unheard-of", "Das lässt sich nicht anzeigen"),
        ("/runs/unheard-of/delete", "Dieser Link ist nicht vollständig"),
        ("/runs/another/delete#secret", "Dieses Ergebnis löschen"),
        ("/devices/unheard-of", "Dieses Gerät lässt sich nicht anzeigen"),
        ("/unheard-of", "Hier ist nichts"),
        ("/docs", "Dokumente"),
        ("/docs/privacy", "Privacy"),
        ("/docs/unheard-of", "Dieses Dokument gibt es nicht"),
        ("/comparisons/unheard-of", "Das lässt sich nicht anzeigen"),
        ("/comparisons/unheard-of/delete#secret", "Diesen Vergleich löschen"),
    ];
    drive(Setup::NO_GPU, async |page| {
        let english = English::new();
        let mut axe = AxeCheck::new();
        page.open_to("/", "heading", "WebGPU is missing").await;
        page.wait_for("heading", "Leaderboard").await;
        unfold(page).await;
        axe.check(page, "without WebGPU").await;
        page.open_to("/?language=de&sede=1", "heading", "WebGPU fehlt").await;
        page.wait_for("table", "Veröffentlichte Hardware").await;
        english.assert_none_in(page, "the start page without WebGPU").await;
        // These paths do not exist. The language is stored by now.
        page.tolerate(&["status of 404", "status of 400"]);
        for (path, heading) in pages {
            page.open(path).await;
            page.wait_until_text("main", TIMEOUT, |text| !text.trim().is_empty()).await;
            page.wait_for("heading", heading).await;
            english.assert_none_in(page, path).await;
            if !path.starts_with("/docs/") {
                axe.check(page, path).await;
            }
        }
        axe.finish();
    });
}

//! Accessibility of each page, state, theme and language, checked by axe-core.

use std::{env, fs};

use browser_tests::{Browser, Page, RUN_TIMEOUT, Setup, TIMEOUT, drive, drive_firefox, skipped};

const RUN: &str = "/?workload=keras-mnist-mlp&batch=32&steps=5";
/// Options for all default rules, including best practices, and for the target size (WCAG 2.2, 2.5.8), which is off by
/// default.
const AXE_OPTIONS: &str = "{ resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } }";
/// Screens and themes to check.
const APPEARANCES: [Setup; 3] = [
    Setup { dark: true, ..Setup::USUAL },
    Setup::PHONE,
    // The default is last, so that the next state begins with it.
    Setup::USUAL,
];

/// Checker that collects the violations found by axe-core.
struct Findings {
    /// Source code of axe-core.
    axe: String,
    /// Violations, each with the state of the page.
    lines: Vec<String>,
}

impl Findings {
    /// Loads axe-core from the path in `GRADMARK_AXE`. `cargo xtask test` downloads it and sets the variable.
    fn new() -> Result<Self, &'static str> {
        let path = env::var_os("GRADMARK_AXE").ok_or("axe-core could not be downloaded, or GRADMARK_AXE is not set")?;
        Ok(Self { axe: fs::read_to_string(path).expect("GRADMARK_AXE is the path of a script"), lines: Vec::new() })
    }

    /// Checks the page once, in its current appearance and language.
    async fn check(&mut self, page: &impl Page, state: &str) {
        // The content security policy does not apply to the driver's scripts.
        let script = &self.axe;
        let check = format!(
            "async () => {{
                if (!window.axe) {{ {script} }}
                // Let theme transitions finish, because their colors do not count.
                const ends = (animation) => Number.isFinite(animation.effect?.getComputedTiming().endTime);
                const animations = document.getAnimations().filter(ends);
                await Promise.all(animations.map((animation) => animation.finished.catch(() => {{}})));
                const found = await window.axe.run(document, {AXE_OPTIONS});
                const describe = (node) => `${{node.target.join(' ')}}: ${{node.failureSummary.replace(/\\s+/g, ' ')}}`;
                return {{
                    engine: found.testEngine.version,
                    violations: found.violations.flatMap(({{ id, nodes }}) =>
                        nodes.map((node) => `${{id}}: ${{describe(node)}}`)),
                }};
            }}"
        );
        let found = page.ask(&check).await;
        assert!(found["engine"].is_string(), "{found}");
        let violations = found["violations"].as_array().expect("a list");
        self.lines.extend(violations.iter().map(|line| format!("{state}: {}", line.as_str().expect("a line"))));
    }

    /// Checks the page in each appearance, and in German.
    async fn check_variants(&mut self, page: &Browser, state: &str) {
        for setup in APPEARANCES {
            page.set_appearance(setup).await.expect("the appearance changes");
            let (width, theme) = (setup.size.0, if setup.dark { "dark" } else { "light" });
            self.check(page, &format!("{state}, {width} wide, {theme}")).await;
        }
        page.set_language("de").await;
        self.check(page, &format!("{state}, German")).await;
        page.set_language("en").await;
    }
}

/// Expands all details, because axe-core skips hidden content.
async fn unfold(page: &impl Page) {
    let open = "() => document.querySelectorAll('details').forEach((details) => { details.open = true; })";
    page.ask(open).await;
}

/// Runs `body` in Chromium, and fails if it found violations.
fn assert_accessible(setup: Setup, body: impl AsyncFnOnce(&Browser, &mut Findings)) {
    let mut findings = match Findings::new() {
        Ok(findings) => findings,
        Err(why) => return skipped(why),
    };
    drive(setup, async |page| body(page, &mut findings).await);
    assert!(findings.lines.is_empty(), "{}", findings.lines.join("\n"));
}

#[test]
#[ignore = "axe checks every state"]
fn pages_are_accessible_from_start_to_deletion() {
    assert_accessible(Setup::USUAL, async |page, findings| {
        // Long enough for the checks on a busy machine.
        page.open_to("/?workload=keras-mnist-mlp&batch=32&seconds=120", "table", "Published hardware").await;
        unfold(page).await;
        findings.check_variants(page, "start").await;
        page.click("button", "Benchmark").await;
        page.wait_for_step(5.0).await;
        findings.check_variants(page, "running").await;
        page.cancel().await;
        findings.check_variants(page, "cancelled").await;

        page.train(RUN).await;
        unfold(page).await;
        findings.check_variants(page, "finished").await;
        page.upload().await;
        findings.check_variants(page, "uploaded").await;
        page.click("link", "Permalink").await;
        page.wait_for("table", "Results").await;
        unfold(page).await;
        findings.check_variants(page, "result").await;
        page.click("link", "All runs of this device").await;
        page.wait_for("table", "Latest results").await;
        findings.check_variants(page, "device").await;
        page.client().back().await.expect("the browser goes back");
        page.click("link", "Delete this result").await;
        page.wait_for("button", "Delete this result").await;
        findings.check_variants(page, "delete").await;
        page.open_to("/", "table", "Published hardware").await;
        findings.check_variants(page, "start with own runs").await;
    });
}

#[test]
#[ignore = "axe checks every state"]
fn a_comparison_is_accessible() {
    assert_accessible(Setup::USUAL, async |page, findings| {
        page.open_to("/compare?workload=keras-mnist-mlp&batch=8&steps=4&compare=wgsl,jax-js-wasm", "button", "Compare")
            .await;
        unfold(page).await;
        findings.check_variants(page, "comparison").await;
        page.click("button", "Compare").await;
        page.wait_for("button", "Cancel").await;
        findings.check_variants(page, "comparing").await;
        page.wait_for_status(RUN_TIMEOUT, |text| text == "The comparison is below.").await;
        unfold(page).await;
        findings.check_variants(page, "compared").await;
    });
}

#[test]
#[ignore = "axe checks every state"]
fn empty_and_missing_pages_are_accessible() {
    assert_accessible(Setup::NO_GPU, async |page, findings| {
        page.open_to("/", "heading", "WebGPU is missing").await;
        page.wait_for("heading", "Leaderboard").await;
        unfold(page).await;
        findings.check(page, "without WebGPU").await;
        // These paths do not exist.
        page.tolerate(&["devices/no-such-card", "runs/0123", "no-such-page"]);
        for path in [
            "/leaderboard",
            "/leaderboard?leaderboard=runs",
            "/devices",
            "/file",
            "/side-by-side",
            "/docs",
            "/moderation",
            "/devices/no-such-card",
            "/runs/0123",
            "/no-such-page",
        ] {
            page.open(path).await;
            page.wait_until_text("main", TIMEOUT, |text| !text.trim().is_empty()).await;
            findings.check(page, path).await;
        }
    });
}

#[test]
#[ignore = "needs Firefox"]
fn a_run_is_accessible_in_firefox() {
    let mut findings = match Findings::new() {
        Ok(findings) => findings,
        Err(why) => return skipped(why),
    };
    drive_firefox(Setup::USUAL, async |page| {
        page.open_to(RUN, "table", "Published hardware").await;
        unfold(page).await;
        findings.check(page, "start").await;
        page.click("button", "Benchmark").await;
        page.watch_to_the_end().await;
        unfold(page).await;
        findings.check(page, "finished").await;
    });
    assert!(findings.lines.is_empty(), "{}", findings.lines.join("\n"));
}

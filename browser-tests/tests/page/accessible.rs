//! Accessibility of each page, state, theme and language, checked by axe-core.

use std::{env, fs};

use browser_tests::{Browser, PATIENCE, Page, RUN_PATIENCE, Setup, drive, drive_firefox, skipped};

const RUN: &str = "/?workload=keras-mnist-mlp&batch=32&steps=5";
/// All rules that are on by default, best practices included, and the size of targets (WCAG 2.2, 2.5.8), which is not.
const OPTIONS: &str = "{ resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } }";
/// Wide and dark, wide and light, and as narrow as WCAG asks for (1.4.10), which is 400 % of a screen.
const APPEARANCES: [Setup; 3] = [
    Setup { dark: true, ..Setup::USUAL },
    Setup::PHONE,
    // The last is how the next state begins.
    Setup::USUAL,
];

/// Findings of axe-core, by the state of the page.
struct Findings {
    /// Script of axe-core.
    axe: String,
    lines: Vec<String>,
}

impl Findings {
    /// Prepares axe-core; `cargo xtask test` fetches it, and names its script in `GRADMARK_AXE`.
    fn new() -> Result<Self, &'static str> {
        let path =
            env::var_os("GRADMARK_AXE").ok_or("axe-core could not be fetched, or GRADMARK_AXE does not name it")?;
        Ok(Self { axe: fs::read_to_string(path).expect("GRADMARK_AXE names a script"), lines: Vec::new() })
    }

    async fn look(&mut self, page: &impl Page, state: &str) {
        // The page's policy forbids scripts from elsewhere, but not the driver's.
        let script = &self.axe;
        let look = format!(
            "async () => {{
                if (!window.axe) {{ {script} }}
                // Colors in transition from one theme to the other do not count.
                const finite = (of) => Number.isFinite(of.effect?.getComputedTiming().endTime);
                await Promise.all(document.getAnimations().filter(finite).map((of) => of.finished.catch(() => {{}})));
                const found = await window.axe.run(document, {OPTIONS});
                const said = (node) => `${{node.target.join(' ')}}: ${{node.failureSummary.replace(/\\s+/g, ' ')}}`;
                return {{
                    engine: found.testEngine.version,
                    violations: found.violations.flatMap((of) => of.nodes.map((node) => `${{of.id}}: ${{said(node)}}`)),
                }};
            }}"
        );
        let found = page.ask(&look).await;
        assert!(found["engine"].is_string(), "{found}");
        let violations = found["violations"].as_array().expect("a list");
        self.lines.extend(violations.iter().map(|line| format!("{state}: {}", line.as_str().expect("a line"))));
    }

    /// In each appearance, and in German.
    async fn look_at_all(&mut self, page: &Browser, state: &str) {
        for setup in APPEARANCES {
            page.set_appearance(setup).await.expect("the appearance changes");
            let (width, theme) = (setup.size.0, if setup.dark { "dark" } else { "light" });
            self.look(page, &format!("{state}, {width} wide, {theme}")).await;
        }
        page.speak("de").await;
        self.look(page, &format!("{state}, German")).await;
        page.speak("en").await;
    }
}

/// Opens everything that can be opened, because what is closed is not looked at.
async fn unfold(page: &impl Page) {
    let open = "() => document.querySelectorAll('details').forEach((details) => { details.open = true; })";
    page.ask(open).await;
}

fn nothing_is_wrong(setup: Setup, body: impl AsyncFnOnce(&Browser, &mut Findings)) {
    let mut findings = match Findings::new() {
        Ok(findings) => findings,
        Err(why) => return skipped(why),
    };
    drive(setup, async |page| body(page, &mut findings).await);
    assert!(findings.lines.is_empty(), "{}", findings.lines.join("\n"));
}

#[test]
#[ignore = "axe looks at every state"]
fn accessible_from_the_start_page_to_deletion() {
    nothing_is_wrong(Setup::USUAL, async |page, findings| {
        // Longer than a busy machine looks at it.
        page.open_to("/?workload=keras-mnist-mlp&batch=32&seconds=120", "table", "Published hardware").await;
        unfold(page).await;
        findings.look_at_all(page, "start").await;
        page.click("button", "Benchmark").await;
        page.wait_for_step(5.0).await;
        findings.look_at_all(page, "running").await;
        page.cancel().await;
        findings.look_at_all(page, "cancelled").await;

        page.train(RUN).await;
        unfold(page).await;
        findings.look_at_all(page, "finished").await;
        page.upload().await;
        findings.look_at_all(page, "uploaded").await;
        page.click("link", "Permalink").await;
        page.wait_for("table", "Results").await;
        unfold(page).await;
        findings.look_at_all(page, "result").await;
        page.click("link", "All runs of this device").await;
        page.wait_for("table", "Latest results").await;
        findings.look_at_all(page, "device").await;
        page.client().back().await.expect("the result is still there");
        page.click("link", "Delete this result").await;
        page.wait_for("button", "Delete this result").await;
        findings.look_at_all(page, "delete").await;
        page.open_to("/", "table", "Published hardware").await;
        findings.look_at_all(page, "start with own runs").await;
    });
}

#[test]
#[ignore = "axe looks at every state"]
fn nothing_is_wrong_with_a_comparison() {
    nothing_is_wrong(Setup::USUAL, async |page, findings| {
        page.open_to("/compare?workload=keras-mnist-mlp&batch=8&steps=4&compare=wgsl,jax-js-wasm", "button", "Compare")
            .await;
        unfold(page).await;
        findings.look_at_all(page, "comparison").await;
        page.click("button", "Compare").await;
        page.wait_for("button", "Cancel").await;
        findings.look_at_all(page, "comparing").await;
        page.wait_for_status(RUN_PATIENCE, |text| text == "The comparison is below.").await;
        unfold(page).await;
        findings.look_at_all(page, "compared").await;
    });
}

#[test]
#[ignore = "axe looks at every state"]
fn nothing_is_wrong_where_there_is_little_to_show() {
    nothing_is_wrong(Setup::NO_GPU, async |page, findings| {
        page.open_to("/", "heading", "WebGPU is missing").await;
        page.wait_for("heading", "Leaderboard").await;
        unfold(page).await;
        findings.look(page, "without WebGPU").await;
        // There is no such device, nor such a result.
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
            page.wait_until_it_says("main", PATIENCE, |text| !text.trim().is_empty()).await;
            findings.look(page, path).await;
        }
    });
}

#[test]
#[ignore = "needs Firefox"]
fn nothing_is_wrong_in_firefox() {
    let mut findings = match Findings::new() {
        Ok(findings) => findings,
        Err(why) => return skipped(why),
    };
    drive_firefox(Setup::USUAL, async |page| {
        page.open_to(RUN, "table", "Published hardware").await;
        unfold(page).await;
        findings.look(page, "start").await;
        page.click("button", "Benchmark").await;
        page.watch_to_the_end().await;
        unfold(page).await;
        findings.look(page, "finished").await;
    });
    assert!(findings.lines.is_empty(), "{}", findings.lines.join("\n"));
}

//! What axe-core says of each page, state, theme and language: nothing.

use browser_tests::{Axe, Browser, PATIENCE, Page, Setup, axe, drive, drive_firefox, skipped, speak, watch_to_the_end};

const RUN: &str = "/?workload=keras-mnist-mlp&batch=32&steps=5";
/// Wide and dark, wide and light, and as narrow as WCAG asks for (1.4.10), which is 400 % of a screen.
const APPEARANCES: [Setup; 3] = [
    Setup { dark: true, ..Setup::USUAL },
    Setup { size: (320, 640), ..Setup::USUAL },
    // The last is how the next state begins.
    Setup::USUAL,
];

/// What axe-core finds on the way, named by the state of the page.
struct Findings {
    axe: Axe,
    lines: Vec<String>,
}

impl Findings {
    async fn look(&mut self, page: &impl Page, state: &str) {
        let found = self.axe.violations(page).await;
        self.lines.extend(found.iter().map(|line| format!("{state}: {line}")));
    }

    /// In each appearance, and in German.
    async fn look_at_all(&mut self, page: &Browser, state: &str) {
        for setup in APPEARANCES {
            page.set_appearance(setup).await.expect("the appearance changes");
            let (width, theme) = (setup.size.0, if setup.dark { "dark" } else { "light" });
            self.look(page, &format!("{state}, {width} wide, {theme}")).await;
        }
        speak(page, "de").await;
        self.look(page, &format!("{state}, German")).await;
        speak(page, "en").await;
    }
}

/// Opens everything that can be opened, because what is closed is not looked at.
async fn unfold(page: &impl Page) {
    let open = "() => document.querySelectorAll('details').forEach((details) => { details.open = true; })";
    page.call(open, serde_json::Value::Null).await;
}

fn nothing_is_wrong(setup: Setup, body: impl AsyncFnOnce(&Browser, &mut Findings)) {
    let axe = match axe() {
        Ok(axe) => axe,
        Err(why) => return skipped(why),
    };
    let mut findings = Findings { axe, lines: Vec::new() };
    drive(setup, async |page| body(page, &mut findings).await);
    assert!(findings.lines.is_empty(), "{}", findings.lines.join("\n"));
}

#[test]
#[ignore = "axe looks at every state"]
fn nothing_is_wrong_from_the_start_to_a_result_that_is_deleted() {
    nothing_is_wrong(Setup::default(), async |page, findings| {
        // Longer than a busy machine looks at it.
        page.open("/?workload=keras-mnist-mlp&batch=32&seconds=120").await;
        page.wait_for("table", "Leaderboard", PATIENCE).await;
        unfold(page).await;
        findings.look_at_all(page, "start").await;
        page.click("button", "Benchmark").await;
        while page.number("[data-figure=step]", "data-value").await.is_none_or(|step| step < 5.0) {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        findings.look_at_all(page, "running").await;
        page.click("button", "Cancel").await;
        page.wait_for("button", "Benchmark", browser_tests::CANCELLING).await;
        findings.look_at_all(page, "cancelled").await;

        page.open(RUN).await;
        page.click("button", "Benchmark").await;
        watch_to_the_end(page).await;
        unfold(page).await;
        findings.look_at_all(page, "finished").await;
        page.click("button", "Upload").await;
        page.wait_for("link", "Permalink", PATIENCE).await;
        findings.look_at_all(page, "uploaded").await;
        page.click("link", "Permalink").await;
        page.wait_for("table", "Results", PATIENCE).await;
        unfold(page).await;
        findings.look_at_all(page, "result").await;
        page.click("link", "All results of this device").await;
        page.wait_for("table", "Latest results", PATIENCE).await;
        findings.look_at_all(page, "device").await;
        page.client().back().await.expect("the result is still there");
        page.click("link", "Delete this result").await;
        page.wait_for("button", "Delete this result", PATIENCE).await;
        findings.look_at_all(page, "delete").await;
        page.open("/").await;
        page.wait_for("table", "Leaderboard", PATIENCE).await;
        findings.look_at_all(page, "start with own runs").await;
    });
}

#[test]
#[ignore = "axe looks at every state"]
fn nothing_is_wrong_with_a_comparison_while_it_runs_and_afterwards() {
    nothing_is_wrong(Setup::default(), async |page, findings| {
        page.open("/compare?workload=keras-mnist-mlp&batch=8&steps=4&compare=wgsl,jax-js-wasm").await;
        page.wait_for("button", "Compare", PATIENCE).await;
        unfold(page).await;
        findings.look_at_all(page, "comparison").await;
        page.click("button", "Compare").await;
        page.wait_for("button", "Cancel", PATIENCE).await;
        findings.look_at_all(page, "comparing").await;
        page.wait_for_status(browser_tests::RUN_PATIENCE, |text| text == "The comparison is below.").await;
        unfold(page).await;
        findings.look_at_all(page, "compared").await;
    });
}

#[test]
#[ignore = "axe looks at every state"]
fn nothing_is_wrong_where_there_is_little_to_show() {
    nothing_is_wrong(Setup { webgpu: false, ..Setup::default() }, async |page, findings| {
        page.open("/").await;
        page.wait_for("heading", "WebGPU is missing", PATIENCE).await;
        page.wait_for("heading", "Leaderboard", PATIENCE).await;
        unfold(page).await;
        findings.look(page, "without WebGPU").await;
        // Nobody has such a device, nor such a result.
        page.tolerate(&["api/v1/devices/nobody-s-card", "api/v1/runs/0123"]);
        for path in [
            "/file",
            "/side-by-side",
            "/documents",
            "/moderation",
            "/devices/nobody-s-card",
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
    let axe = match axe() {
        Ok(axe) => axe,
        Err(why) => return skipped(why),
    };
    let mut findings = Findings { axe, lines: Vec::new() };
    drive_firefox(Setup::default(), async |page| {
        page.open(RUN).await;
        page.wait_for("table", "Leaderboard", PATIENCE).await;
        unfold(page).await;
        findings.look(page, "start").await;
        page.click("button", "Benchmark").await;
        watch_to_the_end(page).await;
        unfold(page).await;
        findings.look(page, "finished").await;
    });
    assert!(findings.lines.is_empty(), "{}", findings.lines.join("\n"));
}

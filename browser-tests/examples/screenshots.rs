//! Saves screenshots of the page:
//!
//! ```sh
//! cargo run --release -p browser-tests --example screenshots -- FOLDER
//! ```
//!
//! Further arguments select parts: `run`, `comparison`, `absent` and `no-webgpu`. With `firefox`, Firefox replaces
//! Chromium, and only `run` and `comparison` are available.

use std::path::{Path, PathBuf};
use std::time::Duration;

use browser_tests::{Page, Setup, drive, drive_firefox, follow, tour_comparison, tour_run};
use fantoccini::Locator;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or_else(|| "screenshots".to_owned()));
    std::fs::create_dir_all(&folder).expect("the folder can be created");
    let (browsers, parts): (Vec<String>, Vec<String>) = arguments.partition(|argument| argument == "firefox");
    let in_firefox = !browsers.is_empty();
    for part in ["run", "comparison", "absent", "no-webgpu"] {
        if !parts.is_empty() && !parts.iter().any(|wanted| wanted == part) {
            continue;
        }
        match (part, in_firefox) {
            ("run", true) => drive_firefox(Setup::USUAL, async |page| capture_run(page, &folder).await),
            ("run", false) => drive(Setup::USUAL, async |page| capture_run(page, &folder).await),
            ("comparison", true) => drive_firefox(Setup::USUAL, async |page| capture_comparison(page, &folder).await),
            ("comparison", false) => drive(Setup::USUAL, async |page| capture_comparison(page, &folder).await),
            ("absent", false) => capture_missing_parts(&folder),
            ("no-webgpu", false) => drive(Setup::NO_GPU, async |page| {
                page.open_to("/", "heading", "WebGPU is missing").await;
                take(page, &folder, "no-webgpu").await;
            }),
            _ => {}
        }
    }
}

async fn capture_run(page: &impl Page, folder: &Path) {
    let paths = ["/?batch=32&seconds=120", "/?batch=32&seconds=12"];
    tour_run(page, paths, async |state| take(page, folder, state).await).await;
}

/// Captures a comparison from the choice of backends to its shared page.
async fn capture_comparison(page: &impl Page, folder: &Path) {
    let backends = "wgsl,burn-flex,tfjs-webgl,jax-js-wasm";
    let path = format!("/compare?workload=keras-mnist-mlp&batch=8&steps=6&seeds=2&compare={backends}");
    tour_comparison(page, &path, async |state| take(page, folder, state).await).await;
    page.click("button", "Upload").await;
    follow(page, "Permalink").await;
    page.wait_for("heading", "Comparison of backends").await;
    take(page, folder, "shared").await;
}

const READY: &str = r#"{"state":"ready","bundles":[
    {"name":"burn","folder":"burn-0123456789abcdef","compressed_bytes":3440000,"bytes":12000000}]}"#;

/// Captures the start page with missing optional parts, with its options closed and open.
fn capture_missing_parts(folder: &Path) {
    let burn = |burn| Setup { burn: Some(burn), ..Setup::USUAL };
    let states = [
        ("burn-building", burn(r#"{"state":"building","note":"compiling Burn for the page"}"#)),
        ("burn-missing", burn(r#"{"state":"missing","note":"the page was built without Burn (--no-burn-page)"}"#)),
        ("burn-ready", burn(READY)),
        ("cifar10-missing", Setup { missing_data: &["cifar10-train.bin", "cifar10-test.bin"], ..Setup::USUAL }),
        ("mnist-missing", Setup { missing_data: &["mnist-train.bin", "mnist-test.bin"], ..Setup::USUAL }),
    ];
    for (name, setup) in states {
        drive(setup, async |page| {
            page.open_to("/", "table", "Published hardware").await;
            take(page, folder, &format!("{name}-closed")).await;
            let summary = page.client().find(Locator::Css("details.options > summary")).await.expect("page options");
            summary.click().await.expect("the options open");
            take(page, folder, name).await;
        });
    }
}

/// Takes screenshots of the current state for each language, screen size and theme.
async fn take(page: &impl Page, folder: &Path, name: &str) {
    for language in ["en", "de"] {
        page.set_language(language).await;
        for (kind, size, scale) in [("wide", (1280, 900), 1), ("phone", (360, 740), 2)] {
            for (scheme, dark) in [("light", false), ("dark", true)] {
                page.set_appearance(Setup { dark, size, scale, ..Setup::USUAL }).await.expect("the appearance changes");
                tokio::time::sleep(Duration::from_millis(400)).await;
                let image = page.screenshot().await.expect("a screenshot");
                let file = folder.join(format!("{name}-{kind}-{scheme}-{language}.png"));
                std::fs::write(file, image).expect("the file can be written");
            }
        }
    }
    page.set_language("en").await;
    page.set_appearance(Setup::USUAL).await.expect("the appearance changes");
}

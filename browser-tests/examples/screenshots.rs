//! Saves pictures of the page: `cargo run --release -p browser-tests --example screenshots -- FOLDER`. A word after the
//! folder, `run`, `comparison`, `absent` or `no-webgpu`, takes only those.

use std::path::{Path, PathBuf};
use std::time::Duration;

use browser_tests::{Browser, Page, Setup, drive, speak};
use fantoccini::Locator;

const PATIENCE: Duration = Duration::from_secs(300);

/// Takes some pictures into a folder.
type Part = fn(&Path);

fn main() {
    let folder = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("screenshots"), PathBuf::from);
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let wanted = std::env::args().nth(2);
    let parts: [(&str, Part); 4] =
        [("run", a_run), ("comparison", a_comparison), ("absent", what_is_absent), ("no-webgpu", no_webgpu)];
    for (name, part) in parts {
        if wanted.as_deref().is_none_or(|wanted| wanted == name) {
            part(&folder);
        }
    }
}

/// From the start page to a result and its deletion.
fn a_run(folder: &Path) {
    drive(Setup::default(), async |page| {
        page.open("/?batch=32&seconds=12").await;
        page.wait_for("button", "Benchmark", PATIENCE).await;
        take(page, folder, "start", true).await;
        page.click("button", "Benchmark").await;
        while page.number("[data-figure=step]", "data-value").await.is_none_or(|step| step < 12.0) {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        take(page, folder, "running", true).await;
        page.wait_for("table", "Results", PATIENCE).await;
        take(page, folder, "finished", true).await;
        page.click("button", "Upload").await;
        page.wait_for("link", "Permalink", PATIENCE).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        take(page, folder, "uploaded", true).await;
        page.click("link", "Permalink").await;
        page.wait_for("table", "Results", PATIENCE).await;
        take(page, folder, "result", true).await;
        page.click("link", "All results of this device").await;
        page.wait_for("table", "Latest results", PATIENCE).await;
        take(page, folder, "device", true).await;
        page.client().back().await.expect("the result is still there");
        page.click("link", "Delete this result").await;
        page.wait_for("button", "Delete this result", PATIENCE).await;
        take(page, folder, "delete", true).await;
    });
}

fn a_comparison(folder: &Path) {
    drive(Setup::default(), async |page| {
        page.open(
            "/compare?workload=keras-mnist-mlp&batch=8&steps=6&seeds=2&compare=wgsl,burn-flex,tfjs-webgl,jax-js-wasm",
        )
        .await;
        page.wait_for("button", "Compare", PATIENCE).await;
        take(page, folder, "compare", true).await;
        page.click("button", "Compare").await;
        page.wait_for_status(PATIENCE, |text| text.ends_with(": training")).await;
        take(page, folder, "comparing", true).await;
        page.wait_for_status(PATIENCE, |text| text == "The comparison is below.").await;
        take(page, folder, "compared", true).await;
    });
}

/// What is optional and not there, or not yet, with both lists of choices open.
fn what_is_absent(folder: &Path) {
    let burn = |burn| Setup { burn: Some(burn), ..Setup::USUAL };
    let states = [
        ("burn-building", burn(r#"{"state":"building","note":"compiling Burn for the page"}"#)),
        ("burn-missing", burn(r#"{"state":"missing","note":"the page was built without Burn (--no-burn-page)"}"#)),
        (
            "burn-ready",
            burn(r#"{"state":"ready","folder":"burn-0123456789abcdef","compressed_bytes":3440000,"bytes":12000000}"#),
        ),
        ("cifar10-missing", Setup { missing_data: &["cifar10-train.bin", "cifar10-test.bin"], ..Setup::USUAL }),
        ("mnist-missing", Setup { missing_data: &["mnist-train.bin", "mnist-test.bin"], ..Setup::USUAL }),
    ];
    for (name, setup) in states {
        drive(setup, async |page| {
            page.open("/").await;
            page.wait_for("table", "Leaderboard", PATIENCE).await;
            take(page, folder, &format!("{name}-closed"), true).await;
            for list in ["details.networks > summary", "details.engines > summary"] {
                let summary = page.client().find(Locator::Css(list)).await.expect("a list of choices");
                summary.click().await.expect("it opens");
            }
            take(page, folder, name, true).await;
        });
    }
}

fn no_webgpu(folder: &Path) {
    drive(Setup { webgpu: false, ..Setup::default() }, async |page| {
        page.open("/").await;
        page.wait_for("heading", "WebGPU is missing", PATIENCE).await;
        take(page, folder, "no-webgpu", false).await;
    });
}

/// Wide and phone, light and dark, English and German.
async fn take(page: &Browser, folder: &Path, name: &str, webgpu: bool) {
    for language in ["en", "de"] {
        speak(page, language).await;
        for (kind, size, scale) in [("wide", (1280, 900), 1), ("phone", (360, 740), 2)] {
            for (scheme, dark) in [("light", false), ("dark", true)] {
                page.set_appearance(Setup { webgpu, dark, size, scale, ..Setup::default() })
                    .await
                    .expect("the appearance changes");
                tokio::time::sleep(Duration::from_millis(400)).await;
                let picture = page.screenshot().await.expect("a picture");
                let file = folder.join(format!("{name}-{kind}-{scheme}-{language}.png"));
                std::fs::write(file, picture).expect("it can be saved");
            }
        }
    }
    speak(page, "en").await;
    page.set_appearance(Setup { webgpu, ..Setup::default() }).await.expect("the appearance changes");
}

//! Compares backends in a browser on the comparison page, and prints the result as Markdown:
//!
//! ```sh
//! cargo run --release -p browser-tests --example compared -- chromium comparison.json \
//!     'workload=keras-mnist-mlp&batch=128&steps=100&seed=1&compare=wgsl,burn-wgpu,burn-flex,tfjs-wasm,jax-js-wasm'
//! ```
//!
//! The arguments are a browser (`firefox` or `chromium`), an output file for the comparison with all its records, and
//! settings as in the page's URL. Requires the build of `cargo xtask test browser-tests`.

use std::env;
use std::path::Path;
use std::time::Duration;

use browser_tests::{Page, Setup, drive, drive_firefox};
use serde_json::Value;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [browser, file, settings] = &arguments[..] else {
        panic!("name a browser, `firefox` or `chromium`, a file, and settings")
    };
    let (file, setup) = (Path::new(file), Setup::USUAL);
    match browser.as_str() {
        "firefox" => drive_firefox(setup, async |page| compare(page, settings, file).await),
        "chromium" => drive(setup, async |page| compare(page, settings, file).await),
        other => panic!("{other} is neither `firefox` nor `chromium`"),
    }
}

/// Interval between checks of the page, which slightly disturb the measurement.
const POLL_INTERVAL: Duration = Duration::from_secs(10);

async fn compare(page: &impl Page, settings: &str, file: &Path) {
    page.open(&format!("/compare?{settings}&autostart=1")).await;
    let mut last_status = String::new();
    loop {
        let state = page.ask("() => window.gradmark?.state ?? null").await;
        if matches!(state.as_str(), Some("finished" | "cancelled")) {
            break;
        }
        let status = page.text("[role=status]").await.unwrap_or_default();
        if status != last_status {
            eprintln!("{status}");
            last_status = status;
        }
        page.leave_alone(POLL_INTERVAL).await;
    }
    let comparison = page.ask("() => window.gradmark.comparison").await;
    let text = serde_json::to_string_pretty(&comparison).expect("a comparison is JSON");
    std::fs::write(file, text).expect("the file can be written");
    comparison["comparisons"].as_array().expect("a list of networks").iter().for_each(print);
    for unavailable in comparison["unavailable"].as_array().expect("a list of backends") {
        println!("{}: {}", unavailable["backend"], unavailable["reason"]);
    }
}

fn print(comparison: &Value) {
    println!("{}\n", comparison["workload"]);
    println!("| backend | samples/s | relative to the fastest | ms per step | accuracy, % | cold start, s |");
    println!("|---|---:|---:|---:|---:|---:|");
    for row in comparison["rows"].as_array().expect("a list of backends") {
        let figures = &row["figures"];
        let number = |value: &Value, scale: f64, digits: usize| {
            value.as_f64().map_or_else(|| "–".to_owned(), |value| format!("{:.digits$}", value * scale))
        };
        let ratio = &figures["rate_to_fastest"];
        let interval = ratio["interval"].as_object().map_or_else(String::new, |bounds| {
            format!(" ({} to {})", number(&bounds["low"], 1.0, 3), number(&bounds["high"], 1.0, 3))
        });
        let step =
            figures["training"]["seconds"].as_f64().zip(figures["steps"].as_f64()).map(|(time, steps)| time / steps);
        println!(
            "| `{}` | {} | {}{interval} | {} | {} | {} |",
            row["contender"]["backend"].as_str().unwrap_or_default(),
            number(&figures["samples_per_second"], 1.0, 1),
            number(&ratio["value"], 1.0, 3),
            step.map_or_else(|| "–".to_owned(), |step| format!("{:.1}", step * 1000.0)),
            number(&figures["accuracy"], 100.0, 2),
            number(&figures["cold_start"]["seconds"], 1.0, 1),
        );
    }
    println!("\n{}\n", comparison["agreement"]);
}

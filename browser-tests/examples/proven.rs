//! Runs the suite in a browser, and prints its verification tier and the share of time spent on proving:
//!
//! ```sh
//! cargo run --release -p browser-tests --example proven -- firefox '/?backend=burn-wgpu' /
//! ```
//!
//! The browser (`firefox` or `chromium`) opens each address, runs the suite, uploads the result, and waits for its
//! verification. Requires the build of `cargo xtask test browser-tests`.

use std::env;
use std::time::Duration;

use browser_tests::{Page, Setup, drive, drive_firefox};
use serde_json::Value;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [browser, addresses @ ..] = &arguments[..] else {
        panic!("name a browser, `firefox` or `chromium`, and addresses")
    };
    for address in addresses {
        match browser.as_str() {
            "firefox" => drive_firefox(Setup::USUAL, async |page| prove(page, address).await),
            "chromium" => drive(Setup::USUAL, async |page| prove(page, address).await),
            other => panic!("{other} is neither `firefox` nor `chromium`"),
        }
    }
}

async fn prove(page: &impl Page, address: &str) {
    page.train(address).await;
    let record = page.record().await;
    page.upload().await;
    let mut tier = String::new();
    while tier.is_empty() || tier == "being verified" {
        tokio::time::sleep(Duration::from_millis(500)).await;
        tier = page.text("section.upload .tier").await.unwrap_or_default();
    }
    let notes = page.text("section.upload ul").await.unwrap_or_default();
    let (total, proving) = sum_seconds(&record);
    println!(
        "{address}: {tier} ({}, {}); proving took {proving:.2} s of {total:.1} s, {:.2} %. {notes}",
        record["device"]["backend"].as_str().unwrap_or_default(),
        record["device"]["adapter"]["driver"].as_str().unwrap_or_default(),
        100.0 * proving / total
    );
}

/// Returns the total seconds of the timelines, and the seconds spent on proving.
fn sum_seconds(record: &Value) -> (f64, f64) {
    let workloads = record["workloads"].as_array().expect("workloads");
    let stretches = workloads.iter().flat_map(|workload| workload["timeline"].as_array().into_iter().flatten());
    stretches.fold((0.0, 0.0), |(total, proving), stretch| {
        let seconds = stretch["seconds"].as_f64().unwrap_or_default();
        (total + seconds, proving + if stretch["phase"] == "proving" { seconds } else { 0.0 })
    })
}

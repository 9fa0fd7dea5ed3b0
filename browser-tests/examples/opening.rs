//! Measures the requests of the page while it opens, and the time until a run can be started:
//!
//! ```sh
//! cargo run --release -p browser-tests --example opening -- chromium / /
//! ```
//!
//! The browser (`firefox` or `chromium`) opens each address. A repeated address measures the page with a warm cache.
//! Requires the build of `cargo xtask test browser-tests`.

use std::env;

use browser_tests::{Page, Setup, drive, drive_firefox};

/// Script that returns the URL, start, end and transferred bytes of each request. Times are in milliseconds after
/// navigation started.
const TIMINGS: &str =
    "() => performance.getEntriesByType('navigation').concat(performance.getEntriesByType('resource'))
    .map(entry => [entry.name.replace(location.origin, ''), Math.round(entry.startTime), Math.round(entry.responseEnd),
        entry.transferSize])";
const NOW: &str = "() => Math.round(performance.now())";

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [browser, addresses @ ..] = &arguments[..] else {
        panic!("name a browser, `firefox` or `chromium`, and addresses")
    };
    match browser.as_str() {
        "firefox" => drive_firefox(Setup::USUAL, async |page| open_all(page, addresses).await),
        "chromium" => drive(Setup::USUAL, async |page| open_all(page, addresses).await),
        other => panic!("{other} is neither `firefox` nor `chromium`"),
    }
}

async fn open_all(page: &impl Page, addresses: &[String]) {
    for address in addresses {
        page.open_to(address, "button", "Benchmark").await;
        page.wait_for("table", "Published hardware").await;
        let ready = page.ask(NOW).await;
        let timings = page.ask(TIMINGS).await;
        let timings = timings.as_array().expect("a list");
        let to_api = timings.iter().filter(|entry| entry[0].as_str().is_some_and(|name| name.starts_with("/api/")));
        let bytes: f64 = timings.iter().filter_map(|entry| entry[3].as_f64()).sum();
        println!(
            "{address}: button and leaderboard after {ready} ms; {} requests, {} to the API; {:.0} kB",
            timings.len(),
            to_api.count(),
            bytes / 1e3
        );
        for entry in timings {
            println!("  {} – {} ms  {} B  {}", entry[1], entry[2], entry[3], entry[0].as_str().unwrap_or_default());
        }
    }
}

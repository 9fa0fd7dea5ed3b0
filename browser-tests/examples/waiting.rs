//! Measures a run as the person in front of the page sees it: `cargo run --release -p browser-tests --example waiting --
//! [ADDRESS] [firefox]`, in Chromium unless Firefox is named. It prints the requests of the page while it opens, and the
//! time until a run can be started; then the predicted time left over the run, its largest rise, the duration of each
//! part, the long tasks of the page's thread (Chromium only) and the longest gap between two frames. The second visit has
//! a warm cache, and the first run's parts are its prediction.

use browser_tests::{Page, Setup, drive, drive_firefox};
use serde_json::Value;

/// Returns the URL, start, end and transferred bytes of each request. Times are in milliseconds after navigation started.
const TIMINGS: &str =
    "() => performance.getEntriesByType('navigation').concat(performance.getEntriesByType('resource'))
    .map(entry => [entry.name.replace(location.origin, ''), Math.round(entry.startTime), Math.round(entry.responseEnd),
        entry.transferSize])";
const NOW: &str = "() => Math.round(performance.now())";

/// Collects the texts of the time left, with the seconds since the start, and what holds the page up.
const WATCH: &str = "() => {
    const seen = window.waiting = { left: [], tasks: [], gap: 0, start: performance.now() };
    const seconds = () => (performance.now() - seen.start) / 1000;
    new PerformanceObserver((list) => seen.tasks.push(...list.getEntries().map((task) => Math.round(task.duration))))
        .observe({ type: 'longtask' });
    let last = performance.now();
    const frame = (now) => {
        seen.gap = Math.max(seen.gap, now - last);
        last = now;
        if (!document.querySelector('#result-title')) requestAnimationFrame(frame);
        else seen.end = seconds();
    };
    requestAnimationFrame(frame);
    setInterval(() => {
        const text = document.querySelector('[data-figure=left]')?.textContent ?? '';
        const found = /(\\d+) (s|min)/.exec(text);
        const percent = Number(document.querySelector('[role=progressbar]')?.ariaValueNow ?? NaN);
        if (found) seen.left.push([seconds(), found[1] * (found[2] === 'min' ? 60 : 1), percent]);
    }, 250);
}";

/// Network and duration of each part of the last run, as the page keeps them for its next prediction.
const PARTS: &str = "() => JSON.parse(localStorage.getItem('gradmark.runs'))[0].took";

fn main() {
    let (browsers, addresses): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|of| of == "firefox");
    let address = addresses.first().map_or("/", String::as_str);
    if browsers.is_empty() {
        drive(Setup::USUAL, async |page| measure(page, address).await);
    } else {
        drive_firefox(Setup::USUAL, async |page| measure(page, address).await);
    }
}

async fn measure(page: &impl Page, address: &str) {
    for visit in ["first", "second"] {
        page.open_to(address, "button", "Benchmark").await;
        page.wait_for("table", "Published hardware").await;
        let ready = page.ask(NOW).await;
        println!("{visit} visit: button and leaderboard after {ready} ms");
        report_requests(&page.ask(TIMINGS).await);
        page.ask(WATCH).await;
        page.click("button", "Benchmark").await;
        page.watch_to_the_end().await;
        let seen = page.ask("() => window.waiting").await;
        report(visit, &seen);
        for took in page.ask(PARTS).await.as_array().into_iter().flatten() {
            println!("  {}: {}", took["workload"], took["parts"]);
        }
    }
}

fn report_requests(timings: &Value) {
    let timings = timings.as_array().expect("a list");
    let to_api = timings.iter().filter(|entry| entry[0].as_str().is_some_and(|name| name.starts_with("/api/")));
    let bytes: f64 = timings.iter().filter_map(|entry| entry[3].as_f64()).sum();
    println!("  {} requests, {} to the API; {:.0} kB", timings.len(), to_api.count(), bytes / 1e3);
    for entry in timings {
        println!("  {} – {} ms  {} B  {}", entry[1], entry[2], entry[3], entry[0].as_str().unwrap_or_default());
    }
}

fn report(visit: &str, seen: &Value) {
    let end = seen["end"].as_f64().unwrap_or_default();
    let left: Vec<[f64; 3]> = serde_json::from_value(seen["left"].clone()).unwrap_or_default();
    println!("{visit} run: {end:.0} s");
    let (mut lowest, mut rise, mut printed) = (f64::INFINITY, 1.0_f64, None);
    for [seconds, predicted, percent] in left {
        rise = rise.max(predicted / lowest);
        lowest = lowest.min(predicted);
        if printed != Some(predicted) {
            println!(
                "  after {seconds:5.1} s: {predicted:4.0} s left, {:4.0} s really, {percent:4.1} %",
                end - seconds
            );
            printed = Some(predicted);
        }
    }
    println!("  largest rise: {:.0} %", 100.0 * (rise - 1.0));
    let tasks: Vec<f64> = serde_json::from_value(seen["tasks"].clone()).unwrap_or_default();
    let longest = tasks.iter().copied().fold(0.0, f64::max);
    println!("  long tasks: {}, the longest {longest:.0} ms", tasks.len());
    println!("  longest gap between frames: {:.0} ms", seen["gap"].as_f64().unwrap_or_default());
}

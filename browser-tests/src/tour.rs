//! Tours through the states of the page, for pictures and for accessibility checks.

use std::time::Duration;

use crate::{Page, RUN_TIMEOUT};

/// Shows a run from the start page to the deletion of its result, and calls `visit` with the name of each state. The
/// first path is of a run that the tour cancels, and the second one of a run that it finishes.
pub async fn tour_run(page: &impl Page, [cancelled, finished]: [&str; 2], mut visit: impl AsyncFnMut(&str)) {
    page.open_to(cancelled, "table", "Published hardware").await;
    visit("start").await;
    page.click("button", "Benchmark").await;
    page.wait_for_figure("step", 12.0).await;
    visit("running").await;
    page.cancel().await;
    visit("cancelled").await;
    page.train(finished).await;
    visit("details").await;
    page.ask("() => { document.querySelector('.particulars').open = false; }").await;
    visit("finished").await;
    page.upload().await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    visit("uploaded").await;
    follow(page, "Permalink").await;
    page.wait_for("table", "Results").await;
    page.wait_for("heading", "Compared with others").await;
    visit("run").await;
    let run = page.ask("() => location.pathname").await;
    follow(page, "All runs of this device").await;
    page.wait_for("table", "Latest results").await;
    visit("device").await;
    for (state, path, table) in [
        ("own-runs", "/", "Published hardware"),
        ("leaderboard", "/leaderboard", "Published hardware"),
        ("runs", "/leaderboard?leaderboard=runs", "Leaderboard"),
        ("devices", "/devices?network=caffe-mnist", "Published hardware"),
    ] {
        page.open_to(path, "table", table).await;
        visit(state).await;
    }
    page.open(run.as_str().expect("a path")).await;
    follow(page, "Delete this result").await;
    page.wait_for("button", "Delete this result").await;
    visit("delete").await;
}

/// Shows a comparison from the choice of backends to its results.
pub async fn tour_comparison(page: &impl Page, path: &str, mut visit: impl AsyncFnMut(&str)) {
    page.open_to(path, "button", "Compare").await;
    visit("compare").await;
    page.click("button", "Compare").await;
    page.wait_for_status(RUN_TIMEOUT, |text| text.ends_with(": training")).await;
    visit("comparing").await;
    page.wait_for_status(RUN_TIMEOUT, |text| text == "The comparison is below.").await;
    visit("compared").await;
}

/// Opens the target of a link without a click, after which Firefox would find no elements by role.
pub async fn follow(page: &impl Page, link: &str) {
    page.wait_for("link", link).await;
    let address = "(name) => {
        const link = [...document.links].find((link) => link.textContent.trim() === name);
        return link.pathname + link.search + link.hash;
    }";
    let address = page.call(address, link.into()).await;
    page.open(address.as_str().expect("an address")).await;
}

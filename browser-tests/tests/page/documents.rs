//! The repository's documents as pages of the site.

use browser_tests::{PATIENCE, Page, Setup, drive, drive_firefox, drive_with_server};
use serde_json::Value;

/// Nothing is trained here.
const NO_GPU: Setup = Setup { webgpu: false, ..Setup::USUAL };

/// From the end of the start page to the document on privacy, and to what it links to in another one.
async fn follow_links<P: Page>(page: &P) {
    page.open("/").await;
    page.wait_for("table", "Leaderboard", PATIENCE).await;
    page.click("link", "Privacy").await;
    page.wait_for("heading", "Privacy", PATIENCE).await;
    let titles = "() => [document.title, document.querySelectorAll('h1').length]";
    assert_eq!(page.call(titles, Value::Null).await, serde_json::json!(["Privacy – Gradmark", 1]));
    page.click("link", "how").await;
    // By its text: on a busy machine Firefox was not done with the roles of so long a document within a minute.
    page.wait_for_text("h1", "How Gradmark measures").await;
    let place = "async () => {
        const heading = document.getElementById('statistics-of-a-device');
        const isSeen = () => { const { top } = heading.getBoundingClientRect(); return top >= 0 && top < innerHeight; };
        while (!isSeen()) await new Promise((later) => setTimeout(later, 50));
        return location.pathname + location.hash;
    }";
    assert_eq!(page.call(place, Value::Null).await, "/docs/methodology#statistics-of-a-device");
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn documents_are_linked_from_every_page_and_to_each_other() {
    drive(NO_GPU, async |page| follow_links(page).await);
}

#[test]
#[ignore = "needs Firefox"]
fn documents_are_linked_in_firefox_too() {
    drive_firefox(NO_GPU, async |page| follow_links(page).await);
}

#[test]
fn every_document_opens_and_fits_a_narrow_screen() {
    drive(Setup { size: (320, 640), ..NO_GPU }, async |page| {
        page.open("/docs").await;
        page.wait_for("heading", "Documents", PATIENCE).await;
        let paths = "() => [...document.querySelectorAll('main li a')].map((link) => link.getAttribute('href'))";
        let paths = page.call(paths, Value::Null).await;
        let paths: Vec<&str> = paths.as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert!(paths.len() > 10 && paths.contains(&"/api"), "{paths:?}");
        for path in paths.iter().filter(|path| path.starts_with("/docs/")) {
            page.open(path).await;
            page.wait_until_it_says(".document", PATIENCE, |text| text.len() > 500).await;
            page.assert_never_scrolls_sideways().await;
        }
        let right = "() => getComputedStyle(document.querySelector('.document td.number')).textAlign";
        page.open("/docs/performance").await;
        page.wait_for_text(".document", "samples").await;
        assert_eq!(page.call(right, Value::Null).await, "right");
        page.open("/docs/unheard-of").await;
        page.wait_for("heading", "No such document", PATIENCE).await;
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn without_a_server_the_kept_documents_open() {
    drive_with_server(NO_GPU, async |page, server| {
        page.open("/").await;
        page.wait_for("table", "Leaderboard", PATIENCE).await;
        let kept = "async () => {
            await navigator.serviceWorker.ready;
            const cache = await caches.open('gradmark-1');
            while (!(await cache.match('/'))) await new Promise((later) => setTimeout(later, 50));
            return (await cache.keys()).filter((request) => request.url.includes('/documents-')).length;
        }";
        assert!(page.call(kept, Value::Null).await.as_u64().unwrap() > 10);
        server.stop().unwrap();
        page.tolerate(&["net::ERR_CONNECTION_REFUSED", "net::ERR_FAILED"]);
        page.open("/docs/hosting").await;
        page.wait_for("heading", "Hosting a leaderboard of your own", PATIENCE).await;
    });
}

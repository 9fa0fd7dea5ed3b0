//! Without a network: the browser keeps the page, a run trains and stays here, and a new version of the page is never
//! held up by an old one.

use browser_tests::{Browser, PATIENCE, Page, Setup, drive_with_server, watch_to_the_end};
use serde_json::Value;

const RUN: &str = "/?workload=keras-mnist-mlp&batch=32&steps=5";
/// What the console says when nobody answers.
const NOBODY: &[&str] = &["net::ERR_CONNECTION_REFUSED", "net::ERR_FAILED"];

/// Opens the page and waits until the browser has kept it.
async fn keep(page: &Browser, path: &str) {
    page.open(path).await;
    page.wait_for("button", "Benchmark", PATIENCE).await;
    let kept = "async () => {
        await navigator.serviceWorker.ready;
        while (!navigator.serviceWorker.controller) await new Promise((later) => setTimeout(later, 50));
        return (await (await caches.open('gradmark-1')).keys()).map((request) => new URL(request.url).pathname);
    }";
    let kept = page.call(kept, Value::Null).await;
    let has = |start: &str, end: &str| {
        let paths = kept.as_array().unwrap().iter().map(|path| path.as_str().unwrap());
        paths.into_iter().any(|path| path.starts_with(start) && path.ends_with(end))
    };
    let page = [("/page-", ".js"), ("/page-", "_bg.wasm"), ("/style-", ".css")];
    let worker = [("/worker-", "/loader.js"), ("/worker-", "/worker_bg.wasm")];
    for (start, end) in page.into_iter().chain(worker) {
        assert!(has(start, end), "{start}…{end} is not among {kept}");
    }
}

#[test]
fn once_loaded_the_page_opens_and_trains_without_a_server() {
    drive_with_server(Setup::default(), async |page, server| {
        keep(page, RUN).await;
        // The data comes with the first run.
        page.click("button", "Benchmark").await;
        watch_to_the_end(page).await;
        server.stop().unwrap();
        page.tolerate(NOBODY);

        page.open(RUN).await;
        page.click("button", "Benchmark").await;
        watch_to_the_end(page).await;
        let warnings = page.text(".caveats").await.unwrap();
        assert!(warnings.contains("gave no seed"), "{warnings}");
        page.click("button", "Upload").await;
        page.wait_for_text(".upload .refusal", "It is kept under “Your runs”").await;
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn files_of_an_older_page_are_forgotten() {
    drive_with_server(Setup::default(), async |page, _| {
        keep(page, "/").await;
        let stale = "async () => {
            const cache = await caches.open('gradmark-1');
            await cache.put('/page-0123456789abcdef.js', new Response('old'));
            await cache.put('/data/mnist-train.bin?v=0123456789abcdef', new Response('data'));
        }";
        page.call(stale, Value::Null).await;
        page.open("/").await;
        page.wait_for("button", "Benchmark", PATIENCE).await;
        let gone = "async () => {
            const cache = await caches.open('gradmark-1');
            while (await cache.match('/page-0123456789abcdef.js')) await new Promise((later) => setTimeout(later, 50));
            return Boolean(await cache.match('/data/mnist-train.bin?v=0123456789abcdef'));
        }";
        assert_eq!(page.call(gone, Value::Null).await, true, "data is no part of a version");
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn data_that_is_spoilt_in_what_the_browser_keeps_is_fetched_again() {
    drive_with_server(Setup::default(), async |page, _| {
        keep(page, RUN).await;
        page.click("button", "Benchmark").await;
        watch_to_the_end(page).await;
        let spoil = "async () => {
            const cache = await caches.open('gradmark-1');
            const [request] = (await cache.keys()).filter(({ url }) => url.includes('/data/mnist-train.bin'));
            const bytes = new Uint8Array(await (await cache.match(request)).arrayBuffer());
            bytes[bytes.length - 1] ^= 1;
            await cache.put(request, new Response(bytes));
            return bytes.length;
        }";
        assert_ne!(page.call(spoil, Value::Null).await, 0, "there is a file to spoil");
        for _ in 0..2 {
            // The second time it is right again in what is kept.
            page.open(RUN).await;
            page.click("button", "Benchmark").await;
            watch_to_the_end(page).await;
        }
    });
}

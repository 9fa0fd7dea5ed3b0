//! What goes wrong around the page, each with its own words and a way on.

use browser_tests::{Browser, PATIENCE, Page, RUN_PATIENCE, Setup, drive, watch_to_the_end};
use serde_json::Value;

const RUN: &str = "/?workload=keras-mnist-mlp&batch=32&steps=5";

#[test]
#[ignore = "all browser tests take ten minutes"]
fn a_browser_that_keeps_nothing_trains_all_the_same() {
    drive(Setup::default(), async |page| {
        let refused = "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } })";
        page.pretend(refused).await;
        page.open(RUN).await;
        page.click("button", "Benchmark").await;
        watch_to_the_end(page).await;
        page.click("button", "Upload").await;
        page.wait_for("link", "Permalink", PATIENCE).await;
        page.wait_for("link", "Deletion link", PATIENCE).await;
        assert!(page.by_role("table", "Your runs").await.is_none());
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn a_gpu_that_the_browser_refuses_is_told_with_what_to_do() {
    drive(Setup::default(), async |page| {
        page.pretend("navigator.gpu.requestAdapter = () => Promise.resolve(null)").await;
        page.open("/").await;
        page.wait_for("heading", "WebGPU is missing", PATIENCE).await;
        page.wait_for_text("[aria-labelledby=no-gpu]", "found no GPU that it may use").await;
        assert!(page.text(".advice").await.unwrap().contains("chrome://"));
        page.wait_for("button", "Demonstrate on the processor", PATIENCE).await;
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn a_server_of_another_kind_is_named_and_the_run_stays_in_the_browser() {
    drive(Setup::default(), async |page| {
        // As an older server, or something else at the same address, answers.
        let other = "const own = window.fetch;
            window.fetch = (request, ...rest) => new URL(request.url ?? request, location.href).pathname.startsWith('/api/')
                ? Promise.resolve(new Response('<!doctype html>', { status: 200 }))
                : own(request, ...rest);";
        page.pretend(other).await;
        page.open(RUN).await;
        page.wait_for_text("#leaderboard .refusal", "something that is not the leaderboard's").await;
        page.click("button", "Benchmark").await;
        watch_to_the_end(page).await;
        assert!(page.text(".caveats").await.unwrap().contains("gave no seed"));
        page.click("button", "Upload").await;
        page.wait_for_text(".upload .refusal", "It is kept under “Your runs”").await;
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn what_this_browser_kept_and_cannot_be_read_is_left_alone() {
    drive(Setup::default(), async |page| {
        let spoilt =
            "for (const name of ['runs', 'tuning', 'theme']) localStorage.setItem(`gradmark.${name}`, '{spoilt')";
        page.pretend(spoilt).await;
        page.open(RUN).await;
        page.click("button", "Benchmark").await;
        watch_to_the_end(page).await;
        page.wait_for("table", "Your runs", PATIENCE).await;
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn a_clock_that_is_set_back_changes_no_measurement() {
    drive(Setup::default(), async |page| {
        // Once the run has begun, an hour is taken away.
        let jump = "const now = Date.now; let calls = 0; Date.now = () => now() - (++calls > 3 ? 3600e3 : 0);";
        page.pretend(jump).await;
        page.open(RUN).await;
        page.click("button", "Benchmark").await;
        let seen = watch_to_the_end(page).await;
        assert!(seen.progress.is_sorted(), "{seen:?}");
        let left = page.text("[data-figure=left]").await.unwrap_or_default();
        assert!(!left.contains('-'), "{left}");
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn a_device_on_its_battery_is_told_before_the_run_and_in_its_record() {
    drive(Setup::default(), async |page| {
        page.pretend("navigator.getBattery = () => Promise.resolve({ charging: false })").await;
        page.open(RUN).await;
        page.wait_for_text("[data-figure=battery]", "Plug it in first").await;
        page.click("button", "Benchmark").await;
        watch_to_the_end(page).await;
        assert!(page.text(".caveats").await.unwrap().contains("battery"));
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn a_device_that_is_lost_in_the_middle_is_told_and_another_run_succeeds() {
    drive(Setup::default(), async |page| {
        page.open("/?workload=keras-mnist-mlp&batch=32&seconds=600").await;
        page.click("button", "Benchmark").await;
        page.wait_for_status(RUN_PATIENCE, |text| text.ends_with(": training")).await;
        page.crash_gpu().await;
        page.wait_for_status(PATIENCE, |text| text.contains("the device was lost")).await;
        page.open(RUN).await;
        page.click("button", "Benchmark").await;
        watch_to_the_end(page).await;
    });
}

/// Trains, and gives why that failed, as scripts and people are told.
async fn failure(page: &Browser) -> String {
    page.open(RUN).await;
    page.click("button", "Benchmark").await;
    let ended = page.call("async () => await window.gradmark.finished", Value::Null).await;
    assert_eq!(ended["state"], "failed", "{ended}");
    let said = ended["sentence"].as_str().unwrap();
    assert_eq!(page.text("[role=status]").await.as_deref(), Some(said));
    page.wait_for("button", "Benchmark", PATIENCE).await;
    said.to_owned()
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn memory_that_runs_out_is_told_with_what_to_do() {
    // No device of a test has so little memory that it would come to this by itself.
    let in_worker = Some(
        "const own = GPUDevice.prototype.popErrorScope;
        let scopes = 0;
        GPUDevice.prototype.popErrorScope = async function () {
            const found = await own.call(this);
            return ++scopes === 6 ? new GPUOutOfMemoryError('none is left') : found;
        };",
    );
    drive(Setup { in_worker, ..Setup::default() }, async |page| {
        let said = failure(page).await;
        assert!(said.starts_with("The benchmark failed: the device ran out of memory"), "{said}");
        assert!(said.ends_with("try a smaller batch size."), "{said}");
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn a_shader_that_the_browser_rejects_is_told_with_its_message() {
    let in_worker = Some(
        "const own = GPUDevice.prototype.createShaderModule;
        let modules = 0;
        GPUDevice.prototype.createShaderModule = function (descriptor) {
            const code = ++modules === 3 ? `${descriptor.code} fn unfinished(` : descriptor.code;
            return own.call(this, { ...descriptor, code });
        };",
    );
    drive(Setup { in_worker, ..Setup::default() }, async |page| {
        let said = failure(page).await;
        assert!(said.starts_with("The benchmark failed: the device refused the work: kernel "), "{said}");
        assert!(said.contains("fn unfinished("), "{said}");
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn a_device_whose_limits_are_too_small_is_told_what_it_lacks() {
    // Less than WebGPU promises, but enough for no network.
    let in_worker = Some(
        "const small = { maxBufferSize: 1 << 18, maxStorageBufferBindingSize: 1 << 18 };
        for (const { prototype } of [GPUAdapter, GPUDevice]) {
            const own = Object.getOwnPropertyDescriptor(prototype, 'limits').get;
            const get = function () {
                const limits = own.call(this);
                return new Proxy(limits, { get: (_, name) => small[name] ?? limits[name] });
            };
            Object.defineProperty(prototype, 'limits', { get });
        }",
    );
    drive(Setup { in_worker, ..Setup::default() }, async |page| {
        let said = failure(page).await;
        assert!(said.contains("`training images`") && said.contains("this device allows 262144"), "{said}");
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn a_worker_that_dies_in_the_middle_is_told_and_another_run_can_begin() {
    let in_worker = Some("setTimeout(() => { throw new Error('nothing is left of it'); }, 5000);");
    drive(Setup { in_worker, ..Setup::default() }, async |page| {
        page.tolerate(&["nothing is left of it"]);
        page.open("/?workload=keras-mnist-mlp&batch=32&seconds=600").await;
        page.click("button", "Benchmark").await;
        page.wait_for_status(PATIENCE, |text| {
            text.contains("worker stopped working") && text.contains("nothing is left of it")
        })
        .await;
        page.wait_for("button", "Benchmark", PATIENCE).await;
    });
}

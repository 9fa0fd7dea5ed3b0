//! Failures around the page, each with its message and a way to continue.

use browser_tests::{PATIENCE, Page, RUN_PATIENCE, Setup, drive};

const RUN: &str = "/?workload=keras-mnist-mlp&batch=32&steps=5";

#[test]
#[ignore = "all browser tests take ten minutes"]
fn a_browser_that_keeps_nothing_trains_all_the_same() {
    drive(Setup::USUAL, async |page| {
        let refused = "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } })";
        page.pretend(refused).await;
        page.train(RUN).await;
        page.upload().await;
        page.wait_for("link", "Deletion link").await;
        assert!(page.by_role("table", "Your runs").await.is_none());
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn refused_gpu_is_shown_with_advice() {
    drive(Setup::USUAL, async |page| {
        page.pretend("navigator.gpu.requestAdapter = () => Promise.resolve(null)").await;
        page.open_to("/", "heading", "WebGPU is missing").await;
        page.wait_for_text("[aria-labelledby=no-gpu]", "found no GPU that it may use").await;
        assert!(page.text(".advice").await.unwrap().contains("chrome://"));
        page.wait_for("button", "Demonstrate on the processor").await;
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn another_kind_of_server_is_named_and_the_run_stays() {
    drive(Setup::USUAL, async |page| {
        // As an older server, or something else at the same address, answers.
        let other = "const own = window.fetch;
            window.fetch = (request, ...rest) => new URL(request.url ?? request, location.href).pathname.startsWith('/api/')
                ? Promise.resolve(new Response('<!doctype html>', { status: 200 }))
                : own(request, ...rest);";
        page.pretend(other).await;
        page.open(RUN).await;
        page.wait_for_text("#leaderboard .refusal", "not from the leaderboard").await;
        page.click("button", "Benchmark").await;
        page.watch_to_the_end().await;
        assert!(page.text(".caveats").await.unwrap().contains("gave no seed"));
        page.click("button", "Upload").await;
        page.wait_for_text(".upload .refusal", "It is kept under “Your runs”").await;
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn unreadable_browser_storage_is_left_alone() {
    drive(Setup::USUAL, async |page| {
        let spoilt =
            "for (const name of ['runs', 'tuning', 'theme']) localStorage.setItem(`gradmark.${name}`, '{spoilt')";
        page.pretend(spoilt).await;
        page.train(RUN).await;
        page.wait_for("table", "Your runs").await;
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn a_clock_that_is_set_back_changes_no_measurement() {
    drive(Setup::USUAL, async |page| {
        // Once the run has begun, an hour is taken away.
        let jump = "const now = Date.now; let calls = 0; Date.now = () => now() - (++calls > 3 ? 3600e3 : 0);";
        page.pretend(jump).await;
        let seen = page.train(RUN).await;
        assert!(seen.progress.is_sorted(), "{seen:?}");
        let left = page.text("[data-figure=left]").await.unwrap_or_default();
        assert!(!left.contains('-'), "{left}");
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn battery_power_is_a_warning_before_and_in_the_record() {
    drive(Setup::USUAL, async |page| {
        page.pretend("navigator.getBattery = () => Promise.resolve({ charging: false })").await;
        page.open(RUN).await;
        page.wait_for_text("[data-figure=battery]", "Plug it in first").await;
        page.click("button", "Benchmark").await;
        page.watch_to_the_end().await;
        assert!(page.text(".caveats").await.unwrap().contains("battery"));
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn a_lost_device_is_reported_and_another_run_succeeds() {
    drive(Setup::USUAL, async |page| {
        page.start("/?workload=keras-mnist-mlp&batch=32&seconds=600").await;
        page.wait_for_status(RUN_PATIENCE, |text| text.ends_with(": training")).await;
        page.crash_gpu().await;
        page.wait_for_status(PATIENCE, |text| text.contains("the device was lost")).await;
        page.train(RUN).await;
    });
}

/// Faults of a device, as scripts in the worker, with parts of the page's sentence.
const FAULTS: [(&str, [&str; 2]); 3] = [
    // No device of a test has so little memory.
    (
        "const own = GPUDevice.prototype.popErrorScope;
        let scopes = 0;
        GPUDevice.prototype.popErrorScope = async function () {
            const found = await own.call(this);
            return ++scopes === 6 ? new GPUOutOfMemoryError('none is left') : found;
        };",
        ["The benchmark failed: the device ran out of memory", "try a smaller batch size."],
    ),
    (
        "const own = GPUDevice.prototype.createShaderModule;
        let modules = 0;
        GPUDevice.prototype.createShaderModule = function (descriptor) {
            const code = ++modules === 3 ? `${descriptor.code} fn unfinished(` : descriptor.code;
            return own.call(this, { ...descriptor, code });
        };",
        ["The benchmark failed: the device refused the work: kernel ", "fn unfinished("],
    ),
    // Less than WebGPU promises, and too small for any network.
    (
        "const small = { maxBufferSize: 1 << 18, maxStorageBufferBindingSize: 1 << 18 };
        for (const { prototype } of [GPUAdapter, GPUDevice]) {
            const own = Object.getOwnPropertyDescriptor(prototype, 'limits').get;
            const get = function () {
                const limits = own.call(this);
                return new Proxy(limits, { get: (_, name) => small[name] ?? limits[name] });
            };
            Object.defineProperty(prototype, 'limits', { get });
        }",
        ["`training images`", "this device allows 262144"],
    ),
];

#[test]
#[ignore = "all browser tests take ten minutes"]
fn faults_of_the_device_are_reported_to_scripts_and_people() {
    for (fault, parts) in FAULTS {
        drive(Setup { in_worker: Some(fault), ..Setup::USUAL }, async |page| {
            page.start(RUN).await;
            let ended = page.ask("async () => await window.gradmark.finished").await;
            assert_eq!(ended["state"], "failed", "{ended}");
            let said = ended["sentence"].as_str().unwrap();
            assert!(parts.iter().all(|part| said.contains(part)), "{said}");
            assert_eq!(page.text("[role=status]").await.as_deref(), Some(said));
            page.wait_for("button", "Benchmark").await;
        });
    }
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn a_dead_worker_is_reported_and_another_run_can_begin() {
    let in_worker = Some("setTimeout(() => { throw new Error('nothing is left of it'); }, 5000);");
    drive(Setup { in_worker, ..Setup::USUAL }, async |page| {
        page.tolerate(&["nothing is left of it"]);
        page.start("/?workload=keras-mnist-mlp&batch=32&seconds=600").await;
        page.wait_for_status(PATIENCE, |text| {
            text.contains("worker stopped working") && text.contains("nothing is left of it")
        })
        .await;
        page.wait_for("button", "Benchmark").await;
    });
}

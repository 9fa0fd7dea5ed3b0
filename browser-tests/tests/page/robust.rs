//! Failures around the page: each is reported, and the page recovers.

use browser_tests::{Page, RUN_TIMEOUT, Setup, TIMEOUT, drive};

const LONG_RUN: &str = "/?workload=keras-mnist-mlp&batch=32&seconds=600";
const RUN: &str = "/?workload=keras-mnist-mlp&batch=32&steps=5";

#[test]
#[ignore = "all browser tests take ten minutes"]
fn training_and_upload_work_without_browser_storage() {
    drive(Setup::USUAL, async |page| {
        let refuse_storage = "Object.defineProperty(window, 'localStorage', {
            get() { throw new DOMException('no', 'SecurityError'); },
        })";
        page.add_init_script(refuse_storage).await;
        page.train(RUN).await;
        page.upload().await;
        page.wait_for("link", "Deletion link").await;
        assert!(page.by_role("table", "Your runs").await.is_none());
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn a_run_without_its_server_is_uploaded_later_as_unverified() {
    drive(Setup::USUAL, async |page| {
        // An older server, or a different one at the same address, may answer like this.
        let fake_server = "const realFetch = window.realFetch = window.fetch;
            window.fetch = (request, ...rest) => new URL(request.url ?? request, location.href).pathname.startsWith('/api/')
                ? Promise.resolve(new Response('<!doctype html>', { status: 200 }))
                : realFetch(request, ...rest);";
        page.add_init_script(fake_server).await;
        page.open(RUN).await;
        page.wait_for_text("#leaderboard .refusal", "not from the leaderboard").await;
        page.click("button", "Benchmark").await;
        page.watch_to_the_end().await;
        assert!(page.text(".particulars .caveats").await.unwrap().contains("gave no seed"));
        page.click("button", "Upload").await;
        page.wait_for_text(".upload .refusal", "It is kept under “Your runs”").await;
        page.ask("() => { window.fetch = window.realFetch; }").await;
        page.upload().await;
        let tier = page.text(".upload .tier").await.unwrap();
        assert_eq!(tier, "unverified", "the leaderboard did not register the run");
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn a_run_on_battery_ignores_corrupt_storage_and_clock_changes() {
    drive(Setup::USUAL, async |page| {
        let corrupt =
            "for (const name of ['runs', 'tuning', 'theme']) localStorage.setItem(`gradmark.${name}`, '{corrupt')";
        page.add_init_script(corrupt).await;
        // Set the clock back by an hour once the run has begun.
        let jump = "const now = Date.now; let calls = 0; Date.now = () => now() - (++calls > 3 ? 3600e3 : 0);";
        page.add_init_script(jump).await;
        page.add_init_script("navigator.getBattery = () => Promise.resolve({ charging: false })").await;
        page.open(RUN).await;
        page.wait_for_text("[data-figure=battery]", "Plug it in first").await;
        page.click("button", "Benchmark").await;
        let seen = page.watch_to_the_end().await;
        assert!(seen.progress.is_sorted(), "{seen:?}");
        let left = page.text("[data-figure=left]").await.unwrap_or_default();
        assert!(!left.contains('-'), "{left}");
        assert!(page.text(".particulars .caveats").await.unwrap().contains("battery"));
        page.wait_for("table", "Your runs").await;
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn a_lost_device_is_reported_and_another_run_succeeds() {
    drive(Setup::USUAL, async |page| {
        page.start("/?workload=keras-mnist-mlp&steps=3&precision=f16").await;
        // SwiftShader has no f16; training in f32 instead would be another measurement.
        page.wait_for_status(TIMEOUT, |text| text.contains("f16")).await;
        assert_eq!(page.text("#result-title").await, None);

        page.start(LONG_RUN).await;
        page.wait_for_status(RUN_TIMEOUT, |text| text.ends_with(": training")).await;
        page.crash_gpu().await;
        page.wait_for_status(TIMEOUT, |text| text.contains("the device was lost")).await;
        page.train(RUN).await;
    });
}

/// Worker scripts that simulate faults, with substrings of the expected messages. An empty one is a missing worker.
const FAULTS: [(&str, [&str; 2]); 5] = [
    // A worker that cannot be fetched.
    ("", ["worker stopped working", "worker.js"]),
    (
        include_str!("faults/out_of_memory.js"),
        ["The benchmark failed: the device ran out of memory", "try a smaller batch size."],
    ),
    (
        include_str!("faults/bad_kernel.js"),
        ["The benchmark failed: the device refused the work: kernel ", "fn unfinished("],
    ),
    (include_str!("faults/small_limits.js"), ["`training images`", "this device allows 262144"]),
    // A worker that dies.
    ("setTimeout(() => { throw new Error('simulated crash'); }, 5000);", ["worker stopped working", "simulated crash"]),
];

#[test]
#[ignore = "all browser tests take ten minutes"]
fn device_faults_are_reported_to_scripts_and_visitors() {
    for (fault, parts) in FAULTS {
        let setup = match fault {
            "" => Setup { missing: &["worker.js"], ..Setup::USUAL },
            _ => Setup { worker_script: Some(fault), ..Setup::USUAL },
        };
        drive(setup, async |page| {
            page.tolerate(&["simulated crash", "worker.js"]);
            page.start(LONG_RUN).await;
            let ended = page.ask("async () => await window.gradmark.finished").await;
            assert_eq!(ended["state"], "failed", "{ended}");
            let message = ended["sentence"].as_str().unwrap();
            assert!(parts.iter().all(|part| message.contains(part)), "{message}");
            assert_eq!(page.text("[role=status]").await.as_deref(), Some(message));
            page.wait_for("button", "Benchmark").await;
        });
    }
}

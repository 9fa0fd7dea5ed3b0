//! Tests on the machine's GPU. `GRADMARK_TEST_GPU=1` selects them, as in CI on macOS.

use browser_tests::{Page, Setup, drive};

use crate::firefox::{CORE, assert_compiles_all};
use crate::run::assert_completed;

#[test]
fn a_run_trains_on_a_gpu() {
    drive(Setup::GPU, async |page| {
        page.train("/?workload=keras-mnist-mlp&batch=32&steps=40").await;
        let record = page.record().await;
        assert_completed(&record);
        assert!(record["workloads"][0]["evaluations"][0]["accuracy"].as_f64().unwrap() > 0.3, "{record}");
        assert_eq!(record["device"]["adapter"]["software"], false, "{}", record["device"]);
    });
}

#[test]
fn chromium_compiles_every_kernel_on_a_gpu() {
    drive(Setup::GPU, async |page| assert_compiles_all(page, "shader-f16", CORE).await);
}

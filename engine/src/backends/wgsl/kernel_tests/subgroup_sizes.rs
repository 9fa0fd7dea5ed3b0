//! The kernels at every size of a subgroup that processors give: llvmpipe's are as wide as its vectors, of 32 bits a lane.

use std::cell::Cell;
use std::env;
use std::process::Command;

use super::with_device;
use crate::testing::{has_everything, skipped};

/// Bits of llvmpipe's vectors; read when the driver is loaded, so that each needs a process of its own.
const VECTOR_WIDTH: &str = "LP_NATIVE_VECTOR_WIDTH";
const WIDTHS: [u32; 3] = [128, 256, 512];
/// The tests of kernels that have variants for subgroups.
const WITH_SUBGROUPS: [&str; 3] = ["kernel_tests::dense", "kernel_tests::conv2d", "kernel_tests::recurrent"];

/// Lanes of a subgroup of llvmpipe, if somebody has chosen them.
pub(super) fn chosen_lanes() -> Option<u32> {
    env::var(VECTOR_WIDTH).ok()?.parse::<u32>().ok().map(|width| width / 32)
}

#[test]
#[ignore = "tests every variant again for each subgroup size"]
fn kernels_compute_the_same_with_subgroups_of_four_eight_and_sixteen_lanes() {
    if env::var_os(VECTOR_WIDTH).is_some() {
        return;
    }
    let native = Cell::new(None);
    with_device(|device| {
        native.set(has_everything(device.adapter()).then(|| 32 * device.abilities().subgroup_lanes));
    });
    let Some(native) = native.get() else {
        return skipped(false, "only llvmpipe lets its vectors' width be chosen");
    };
    // The kernels' own tests use the native width.
    for width in WIDTHS.into_iter().filter(|&width| width != native) {
        let output = Command::new(env::current_exe().unwrap())
            .arg("--include-ignored")
            .args(WITH_SUBGROUPS)
            .arg("a_subgroup_has_a_lane_for_each_32_bits_of_a_vector")
            .env(VECTOR_WIDTH, width.to_string())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && !said.contains(" 0 passed"), "with vectors of {width} bits: {said}");
    }
}

#[test]
fn a_subgroup_has_a_lane_for_each_32_bits_of_a_vector() {
    let Some(lanes) = chosen_lanes() else { return };
    with_device(|device| assert_eq!(device.abilities().subgroup_lanes, lanes));
}

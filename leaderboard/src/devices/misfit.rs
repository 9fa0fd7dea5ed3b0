//! Named GPUs whose measured peak is missing or too low: their runs are not ranked under that name.
//!
//! A peak that is too high is a [`contradiction`](super::contradiction()) instead.

use results::RunRecord;

use super::inference::measured_peak;
use super::table::KnownDevice;
use super::{DeviceClass, class_of};

/// Smallest share of the published peak that a device must reach. Integrated GPUs share their power with the processor,
/// and clocks drop with heat.
const LEAST_SHARE_OF_PUBLISHED: f64 = 0.25;

/// Returns the reason why a run on a GPU is not ranked as `device`, as a plain sentence. Returns `None` for a device
/// without a published peak.
pub(super) fn misfit(record: &RunRecord, device: &KnownDevice) -> Option<String> {
    // Some processors have the same name as the GPU on their chip.
    let published = device.flops_per_second.filter(|_| class_of(record) != DeviceClass::Processor)?;
    let name = &device.name;
    let Some(measured) = measured_peak(record) else {
        return Some(format!("The run is not ranked as {name}, because its peak was not measured."));
    };
    (measured < published * LEAST_SHARE_OF_PUBLISHED).then(|| {
        let (measured, published) = (measured / 1e12, published / 1e12);
        format!(
            "The run is not ranked as {name}: its measured peak is {measured:.2} TFLOP/s, and the device does \
             {published:.1} TFLOP/s by its maker."
        )
    })
}

#[cfg(test)]
mod tests {
    use results::DeviceKind;

    use super::super::look_up;
    use super::super::testing::{native, trained_by, with_peak};
    use super::*;

    fn said(record: &RunRecord, name: &str) -> Option<String> {
        misfit(record, look_up(name).unwrap().device)
    }

    #[test]
    fn peaks_below_a_quarter_of_the_published_one_do_not_fit() {
        // The published peak is 82.6 TFLOP/s.
        let rtx_4090 = |peak| said(&with_peak(native("NVIDIA GeForce RTX 4090", "NVIDIA"), peak), "RTX 4090");
        assert!(rtx_4090(2.0e13).unwrap().contains("its measured peak is 20.00 TFLOP/s"));
        assert_eq!(rtx_4090(2.1e13), None);
    }

    #[test]
    fn devices_without_a_measured_peak_fit_only_if_none_is_published() {
        let record = native("NVIDIA GeForce RTX 4090", "NVIDIA");
        assert!(said(&record, "RTX 4090").unwrap().contains("was not measured"));
        let unpublished = KnownDevice { flops_per_second: None, ..look_up("RTX 4090").unwrap().device.clone() };
        assert_eq!(misfit(&record, &unpublished), None);
    }

    #[test]
    fn processors_with_the_name_of_their_gpu_fit() {
        let record = trained_by(native("Apple M1 Pro", "Apple"), "burn-flex", DeviceKind::Cpu, "CPU");
        assert_eq!(said(&record, "Apple M1 Pro"), None);
    }
}

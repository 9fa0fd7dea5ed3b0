//! What every back end has in common that shares batches among several devices: how a batch is divided, what becomes of what
//! the devices found, and how the host waits for all of them at once.

#[cfg(all(test, feature = "wgsl"))]
pub(super) mod comparison;
pub(super) mod division;
pub(super) mod sums;
pub(super) mod under_way;

use crate::error::EngineError;

/// Says of an error which device it is of, counted from `place` 0.
pub(super) fn of_device(place: usize, devices: usize, name: &str) -> impl Fn(EngineError) -> EngineError + use<> {
    let name = name.to_owned();
    move |error| EngineError::OfDevice { number: place + 1, devices, name: name.clone(), error: Box::new(error) }
}

/// That devices which did the same updates have the same weights, to the last bit.
///
/// # Errors
/// The first device whose weights are others than those of the first, which `of_device` names.
pub(super) fn check_agreement<'a>(
    first: &[f32],
    others: impl Iterator<Item = &'a [f32]>,
    of_device: impl Fn(usize, EngineError) -> EngineError,
) -> Result<(), EngineError> {
    for (place, other) in (1..).zip(others) {
        let differing = first.iter().zip(other).filter(|(a, b)| a.to_bits() != b.to_bits()).count();
        if differing > 0 || first.len() != other.len() {
            let missing = format!("{differing} of its weights are not those of device 1");
            return Err(of_device(place, EngineError::WorkDropped { missing }));
        }
    }
    Ok(())
}

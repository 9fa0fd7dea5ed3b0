//! Data-parallel training of any backend: dividing batches, combining results, and waiting for all devices.

#[cfg(all(test, feature = "wgsl"))]
pub(super) mod comparison;

use std::ops::Deref;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use shaders::params::Step;

use crate::error::{EngineError, Result};

/// Adds the device to an error. `place` is its index from 0.
pub(super) fn of_device(place: usize, devices: usize, name: &str) -> impl Fn(EngineError) -> EngineError + use<> {
    let name = name.to_owned();
    move |error| EngineError::OfDevice { number: place + 1, devices, name: name.clone(), error: Box::new(error) }
}

/// Checks that the weights of all devices are bitwise equal.
pub(super) fn check_agreement<'a>(
    first: &[f32],
    others: impl Iterator<Item = &'a [f32]>,
    of_device: impl Fn(usize, EngineError) -> EngineError,
) -> Result<()> {
    for (place, other) in (1..).zip(others) {
        let differing = first.iter().zip(other).filter(|(a, b)| a.to_bits() != b.to_bits()).count();
        if differing > 0 || first.len() != other.len() {
            let missing = format!("{differing} of its weights differ from device 1");
            return Err(of_device(place, EngineError::WorkDropped { missing }));
        }
    }
    Ok(())
}

/// Rows of a batch that one device trains on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) first_row: u32,
    pub(crate) count: u32,
}

#[cfg(any(feature = "wgsl", test))]
pub(crate) fn most_rows(batch_size: u32, devices: u32) -> u32 {
    batch_size.div_ceil(devices)
}

/// Divides a batch as evenly as possible. Shares of a small batch may be empty.
pub(crate) fn shares(samples: u32, devices: u32) -> impl Iterator<Item = Share> {
    let begin = move |device: u32| {
        let row = u64::from(samples) * u64::from(device) / u64::from(devices);
        u32::try_from(row).expect("no more than there are samples")
    };
    (0..devices).map(move |device| {
        let first_row = begin(device);
        Share { first_row, count: begin(device + 1) - first_row }
    })
}

impl Share {
    pub(crate) fn of(self, whole: Step) -> Step {
        let Self { first_row, count } = self;
        Step { first_row, count, elsewhere: whole.count - count, ..whole }
    }
}

/// Writes the sum of all devices' f32 values, given as bytes, to `sum`, reusing its memory. The order is fixed, so that
/// a repeated run gives the same bits.
pub(crate) fn sum<B: Deref<Target = [u8]>>(found: &[B], sum: &mut Vec<f32>) {
    let Some((first, others)) = found.split_first() else { return sum.clear() };
    sum.resize(first.len() / 4, 0.0);
    bytemuck::cast_slice_mut(sum).copy_from_slice(first);
    for other in others {
        for (sum, bytes) in sum.iter_mut().zip(other.chunks_exact(4)) {
            *sum += f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
    }
}

/// Combines means and sums of squared deviations, `2·channels` numbers per part, given each part's number of pixels.
/// Chan, Golub and LeVeque, "Algorithms for Computing the Sample Variance", 1983.
#[expect(clippy::cast_possible_truncation, reason = "devices compute in float32")]
pub(crate) fn moments<'a>(parts: impl Iterator<Item = (&'a [f32], u64)>, channels: usize) -> Vec<f32> {
    let mut seen = 0.0;
    let mut all = vec![0.0; 2 * channels];
    for (part, pixels) in parts.filter(|(_, pixels)| *pixels > 0) {
        let share = pixels as f64 / (seen + pixels as f64);
        for channel in 0..channels {
            let distance = f64::from(part[channel]) - all[channel];
            all[channels + channel] += f64::from(part[channels + channel]) + distance * distance * seen * share;
            all[channel] += distance * share;
        }
        seen += pixels as f64;
    }
    all.into_iter().map(|value: f64| value as f32).collect()
}

pub(crate) type Ending<T> = Pin<Box<dyn Future<Output = Result<T>>>>;

/// Work of each device, in device order, and its result once it has ended.
pub(crate) struct UnderWay<T>(Vec<(Ending<T>, Option<Result<T>>)>);

impl<T> UnderWay<T> {
    pub(crate) fn new(devices: impl Iterator<Item = Ending<T>>) -> Self {
        Self(devices.map(|work| (work, None)).collect())
    }

    /// Returns true if all devices have finished. Starts work that has not begun, and does not wait.
    pub(crate) fn has_ended(&mut self) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        for (work, result) in self.0.iter_mut().filter(|(_, result)| result.is_none()) {
            if let Poll::Ready(ready) = work.as_mut().poll(&mut context) {
                *result = Some(ready);
            }
        }
        self.0.iter().all(|(_, result)| result.is_some())
    }

    /// Waits for all devices. Returns the first error with its device index.
    pub(crate) async fn ended(self) -> Result<Vec<T>, (usize, EngineError)> {
        let mut all = Vec::new();
        for (place, (work, result)) in self.0.into_iter().enumerate() {
            let result = match result {
                Some(result) => result,
                None => work.await,
            };
            all.push(result.map_err(|error| (place, error))?);
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use futures_channel::oneshot::{Receiver, channel};

    use super::*;

    #[test]
    fn shares_divide_a_batch_evenly() {
        for devices in 1..6 {
            for samples in 0..40 {
                let mut next = 0;
                for Share { first_row, count } in shares(samples, devices) {
                    assert_eq!(first_row, next);
                    assert!(count <= most_rows(samples, devices) && count >= samples / devices);
                    next += count;
                }
                assert_eq!(next, samples);
            }
        }
    }

    fn receive(receiver: Receiver<Result<()>>) -> Ending<()> {
        Box::pin(async move { receiver.await.expect("the sender lives as long") })
    }

    #[test]
    fn work_ends_with_the_last_device_and_keeps_failures() {
        let (first, second) = (channel(), channel());
        let mut computing = UnderWay::new([receive(first.1), receive(second.1)].into_iter());
        assert!(!computing.has_ended());
        let lost = EngineError::DeviceLost { message: "unplugged".to_owned() };
        second.0.send(Err(lost)).unwrap();
        assert!(!computing.has_ended());
        first.0.send(Ok(())).unwrap();
        assert!(computing.has_ended() && computing.has_ended());
        let (place, error) = pollster::block_on(computing.ended()).unwrap_err();
        assert!(place == 1 && matches!(error, EngineError::DeviceLost { .. }), "{place}: {error}");
    }
}

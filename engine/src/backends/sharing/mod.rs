//! Data-parallel training of any backend: dividing batches, combining results, and waiting for all devices.

#[cfg(all(test, feature = "wgsl"))]
pub(super) mod comparison;

use std::ops::Deref;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use results::Communication;
use shaders::params::Step;

use crate::clock::Clock;
use crate::error::{EngineError, Result};
use crate::trainer::{EvaluationSet, TestReport, Trainer};

/// Adds the device to an error. `place` is its index from 0.
pub(super) fn of_device(place: usize, devices: usize, name: &str) -> impl Fn(EngineError) -> EngineError + use<> {
    let name = name.to_owned();
    move |error| EngineError::OfDevice { number: place + 1, devices, name: name.clone(), error: Box::new(error) }
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
fn shares(samples: u32, devices: u32) -> impl Iterator<Item = Share> {
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

/// Trainers of one network on several devices, each with its share of every batch. Writes to a device return `W`.
pub(crate) struct Replicas<T, W> {
    pub(crate) trainers: Vec<T>,
    pub(crate) clock: Rc<dyn Clock>,
    /// Division of the last batch.
    pub(crate) shares: Vec<Share>,
    /// Result of the last exchange. Each exchange reuses its memory.
    pub(crate) combined: Vec<f32>,
    /// A write to all devices that may be incomplete, and its start time.
    pub(crate) writing: Option<(f64, UnderWay<W>)>,
    /// Names of the devices, for errors.
    names: Vec<String>,
}

impl<T: Trainer, W> Replicas<T, W> {
    pub(crate) fn new(trainers: Vec<T>, names: Vec<String>, clock: Rc<dyn Clock>) -> Self {
        Self { trainers, clock, shares: Vec::new(), combined: Vec::new(), writing: None, names }
    }

    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.trainers.len()).expect("the device count fits into u32")
    }

    pub(crate) fn of_device(&self, place: usize) -> impl Fn(EngineError) -> EngineError + use<T, W> {
        of_device(place, self.trainers.len(), &self.names[place])
    }

    /// Divides a batch and returns each device's part of its step.
    pub(crate) fn divide(&mut self, whole: Step) -> impl Iterator<Item = (&mut T, Step)> {
        self.shares = shares(whole.count, self.count()).collect();
        self.trainers.iter_mut().zip(&self.shares).map(move |(trainer, share)| (trainer, share.of(whole)))
    }

    pub(crate) async fn wait_for<R>(&self, work: UnderWay<R>) -> Result<Vec<R>> {
        work.ended().await.map_err(|(place, error)| self.of_device(place)(error))
    }

    /// Waits until the last combination has arrived on all devices.
    pub(crate) async fn wait_for_arrival(&mut self, communication: &mut Communication) -> Result<()> {
        let Some((since, arriving)) = self.writing.take() else { return Ok(()) };
        self.wait_for(arriving).await?;
        communication.writing_seconds += self.clock.now_seconds() - since;
        Ok(())
    }

    /// Evaluates the first device's weights. The caller checks that all devices have the same.
    pub(crate) async fn evaluate(&mut self, set: EvaluationSet, samples: u32) -> Result<TestReport> {
        let started = self.clock.now_seconds();
        let report = self.trainers[0].evaluate(set, samples).await.map_err(self.of_device(0))?;
        Ok(TestReport { seconds: Some(self.clock.now_seconds() - started), ..report })
    }

    /// Returns the weights that `read` reads, after checking that all devices have the same bits.
    pub(crate) async fn agreed(
        &mut self,
        read: impl AsyncFn(&mut T) -> Result<Vec<Vec<f32>>>,
    ) -> Result<Vec<Vec<f32>>> {
        let mut all = Vec::new();
        for place in 0..self.trainers.len() {
            all.push(read(&mut self.trainers[place]).await.map_err(self.of_device(place))?);
        }
        for (place, other) in all.iter().enumerate().skip(1) {
            let pairs = all[0].iter().flatten().zip(other.iter().flatten());
            let differing = pairs.filter(|(a, b)| a.to_bits() != b.to_bits()).count();
            if differing > 0 || all[0].iter().map(Vec::len).ne(other.iter().map(Vec::len)) {
                let missing = format!("{differing} of its weights differ from device 1");
                return Err(self.of_device(place)(EngineError::WorkDropped { missing }));
            }
        }
        Ok(all.swap_remove(0))
    }

    /// Returns the summed gradients, which all devices have.
    pub(crate) async fn gradients(&mut self) -> Result<Vec<Vec<f32>>> {
        self.trainers[0].gradients().await.map_err(self.of_device(0))
    }

    /// Returns the logits of the batch's first answers. Each sample has one answer for each of `positions`.
    pub(crate) async fn logits(&mut self, answers: u32, positions: u32) -> Result<Vec<Vec<f64>>> {
        let mut logits = Vec::new();
        for place in 0..self.shares.len() {
            let Share { first_row, count } = self.shares[place];
            let wanted = (count * positions).min(answers.saturating_sub(first_row * positions));
            if wanted > 0 {
                logits.extend(self.trainers[place].logits(wanted).await.map_err(self.of_device(place))?);
            }
        }
        Ok(logits)
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

//! What devices of Burn tell each other, through the host.
//!
//! Burn's own all-reduce (`burn::tensor::distributed`) is NCCL's, for CUDA devices of one process. Here whatever devices there
//! are send what they found to the host, which adds it in the order of the devices and hands the sum to each.

use std::rc::Rc;

use burn_tensor::{Device, Tensor};
use results::Communication;

use crate::backends::burn::failure::refused;
use crate::backends::burn::trainer::{list, numbers};
use crate::backends::sharing::of_device;
use crate::backends::sharing::sums::{moments, sum};
use crate::backends::sharing::under_way::{Ending, UnderWay};
use crate::clock::Clock;
use crate::error::EngineError;

/// The devices that share each batch.
pub(super) struct Party {
    pub(super) devices: Vec<Device>,
    /// What they are called in errors.
    pub(super) names: Vec<String>,
    pub(super) clock: Rc<dyn Clock>,
    /// What became of what the devices found, in the last exchange: the same memory for all of them.
    combined: Vec<f32>,
    /// What was handed to all devices and may not have arrived, and since when.
    writing: Option<(f64, UnderWay<Vec<f32>>)>,
}

/// What becomes of what the devices found.
pub(super) enum Combination {
    Sum,
    /// Of means and sums of squared deviations of so many channels, of which each device that found any has so many values.
    Moments {
        channels: usize,
        values: Vec<u64>,
    },
}

impl Party {
    pub(super) fn new(devices: Vec<Device>, names: Vec<String>, clock: Rc<dyn Clock>) -> Self {
        Self { devices, names, clock, combined: Vec::new(), writing: None }
    }

    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.devices.len()).expect("devices are few")
    }

    /// Says of an error which device it is of.
    pub(super) fn of_device(&self, place: usize) -> impl Fn(EngineError) -> EngineError + use<> {
        of_device(place, self.devices.len(), &self.names[place])
    }

    /// Brings together what devices found, each of which is named by its place, and hands what becomes of it to all of them.
    /// Nobody waits until it has arrived there.
    ///
    /// # Errors
    /// The first device that does not answer.
    pub(super) async fn exchange(
        &mut self,
        found: Vec<(usize, Tensor<1>)>,
        combination: &Combination,
        communication: &mut Communication,
    ) -> Result<Vec<Tensor<1>>, EngineError> {
        let places: Vec<usize> = found.iter().map(|(place, _)| *place).collect();
        // A device that can read a single one of them has computed them all.
        let mut computing = UnderWay::new(found.iter().map(|(_, tensor)| read(tensor.clone().narrow(0, 0, 1))));
        let mut reading = UnderWay::new(found.into_iter().map(|(_, tensor)| read(tensor)));
        // All devices are asked before anybody is waited for.
        computing.has_ended();
        reading.has_ended();
        self.arrived(communication).await?;
        let failed = |(of, error): (usize, EngineError)| self.of_device(places[of])(error);
        computing.ended().await.map_err(failed)?;
        let computed = self.clock.now_seconds();
        let found = reading.ended().await.map_err(failed)?;
        let read = self.clock.now_seconds();
        combination.of(&found, &mut self.combined);
        let combined = self.clock.now_seconds();
        communication.reading_seconds += read - computed;
        communication.summing_seconds += combined - read;
        communication.exchanges += 1;
        let values = found.iter().map(Vec::len).sum::<usize>() + self.combined.len() * self.devices.len();
        communication.bytes += (values * size_of::<f32>()) as u64;
        Ok(self.hand_over(combined))
    }

    fn hand_over(&mut self, since: f64) -> Vec<Tensor<1>> {
        let sums: Vec<Tensor<1>> = self.devices.iter().map(|device| list(self.combined.clone(), device)).collect();
        let mut arriving = UnderWay::new(sums.iter().map(|sum| read(sum.clone().narrow(0, 0, 1))));
        arriving.has_ended();
        self.writing = Some((since, arriving));
        sums
    }

    /// Waits until all devices have what was handed to them.
    ///
    /// # Errors
    /// The first device that does not answer.
    pub(super) async fn arrived(&mut self, communication: &mut Communication) -> Result<(), EngineError> {
        let Some((since, arriving)) = self.writing.take() else { return Ok(()) };
        arriving.ended().await.map_err(|(place, error)| self.of_device(place)(error))?;
        communication.writing_seconds += self.clock.now_seconds() - since;
        Ok(())
    }
}

impl Combination {
    /// Puts what becomes of them in the place of `result`.
    fn of(&self, found: &[Vec<f32>], result: &mut Vec<f32>) {
        assert!(found.windows(2).all(|pair| pair[0].len() == pair[1].len()), "every device finds as much");
        match self {
            Self::Sum => sum(&found.iter().map(|values| bytemuck::cast_slice(values)).collect::<Vec<_>>(), result),
            Self::Moments { channels, values } => {
                let parts = found.iter().map(Vec::as_slice).zip(values.iter().copied());
                *result = moments(parts, *channels);
            }
        }
    }
}

/// Asks for the values of a tensor as soon as somebody looks whether they are there.
fn read(tensor: Tensor<1>) -> Ending<Vec<f32>> {
    Box::pin(async move { numbers(tensor.into_data_async().await.map_err(refused)?) })
}

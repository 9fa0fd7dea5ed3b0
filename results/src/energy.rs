//! Energy of timed training, from what was sampled beside it.

use crate::{EnergySource, Phase, ResourceSample, Resources, WorkloadRecord};

/// Fewer samples say too little of what was between them: two seconds of training have so many.
const MINIMUM_SAMPLES: usize = 8;

/// Joules that the device used while windows were timed; nothing where it did not tell all the time.
pub(crate) fn of_timed_training(record: &WorkloadRecord) -> Option<f64> {
    let curve = Curve::of(&record.resources)?;
    // Samples count from the end of the check, before which nothing is trained.
    let mut start = 0.0;
    let mut joules = 0.0;
    let training = record.timeline.iter().skip_while(|stretch| is_preparation(stretch.phase));
    for stretch in training {
        if stretch.phase.is_timed() {
            joules += curve.at(start + stretch.seconds) - curve.at(start);
        }
        start += stretch.seconds;
    }
    (joules > 0.0).then_some(joules)
}

fn is_preparation(phase: Phase) -> bool {
    matches!(phase, Phase::LoadingData | Phase::Building | Phase::Checking)
}

/// Energy used until each moment that was sampled.
struct Curve(Vec<(f64, f64)>);

impl Curve {
    fn of(resources: &Resources) -> Option<Self> {
        let samples = &resources.samples;
        let counted = |value: fn(&ResourceSample) -> Option<f64>| {
            samples.iter().map(|sample| Some((sample.seconds, value(sample)?))).collect::<Option<Vec<_>>>()
        };
        let points = match resources.energy_source? {
            EnergySource::GpuCounter => counted(|sample| sample.gpu_energy_joules)?,
            EnergySource::ProcessorCounter => counted(|sample| sample.processor_energy_joules)?,
            EnergySource::GpuPower => summed(&counted(|sample| sample.gpu_power_watts)?),
        };
        (points.len() >= MINIMUM_SAMPLES).then_some(Self(points))
    }

    /// Straight between two samples, and level beyond them.
    fn at(&self, seconds: f64) -> f64 {
        let next = self.0.partition_point(|point| point.0 <= seconds);
        match (next.checked_sub(1).map(|last| self.0[last]), self.0.get(next)) {
            (Some(last), Some(next)) => last.1 + (next.1 - last.1) * (seconds - last.0) / (next.0 - last.0),
            (Some(last), None) => last.1,
            (None, Some(first)) => first.1,
            (None, None) => 0.0,
        }
    }
}

/// Energy until each moment, as if power went straight from one sample to the next.
fn summed(watts: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut joules = 0.0;
    let mut points = Vec::with_capacity(watts.len());
    for (place, &(seconds, power)) in watts.iter().enumerate() {
        if let Some(&(before, power_before)) = place.checked_sub(1).map(|last| &watts[last]) {
            joules += (power + power_before) / 2.0 * (seconds - before);
        }
        points.push((seconds, joules));
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(source: EnergySource, sample: fn(f64) -> ResourceSample) -> Option<Curve> {
        let samples = (0..MINIMUM_SAMPLES).map(|place| sample(place as f64 / 2.0)).collect();
        Curve::of(&Resources { energy_source: Some(source), samples, ..Resources::default() })
    }

    #[test]
    fn energy_is_read_between_samples_and_power_is_summed() {
        let counter = curve(EnergySource::GpuCounter, |seconds| ResourceSample {
            seconds,
            gpu_energy_joules: Some(100.0 * seconds),
            ..ResourceSample::default()
        })
        .unwrap();
        assert_eq!((counter.at(1.25), counter.at(-1.0), counter.at(99.0)), (125.0, 0.0, 350.0));
        let power = curve(EnergySource::GpuPower, |seconds| ResourceSample {
            seconds,
            gpu_power_watts: Some(100.0 + 10.0 * seconds),
            ..ResourceSample::default()
        })
        .unwrap();
        // The integral of 100 + 10 t from 0 to 3.
        assert_eq!(power.at(3.0), 345.0);
    }

    #[test]
    fn a_device_that_did_not_tell_all_the_time_has_no_energy() {
        let silent = curve(EnergySource::GpuCounter, |seconds| ResourceSample {
            seconds,
            gpu_energy_joules: (seconds < 2.0).then_some(seconds),
            ..ResourceSample::default()
        });
        assert!(silent.is_none());
        let sample = ResourceSample { processor_energy_joules: Some(1.0), ..ResourceSample::default() };
        let few = Resources {
            energy_source: Some(EnergySource::ProcessorCounter),
            samples: vec![sample; 3],
            ..Resources::default()
        };
        assert!(Curve::of(&few).is_none());
    }
}

//! Scaling model of `docs/SCALING.md`: predicts step times of synchronous data-parallel training on many devices from
//! measurements on a few.
//!
//! A message of n bytes takes α + n·β (Hockney, "The communication challenge for MPP: Intel Paragon and Meiko CS-2",
//! 1994), and adding n bytes takes n·γ. For the resulting cost of an all-reduce, see Thakur, Rabenseifner and Gropp,
//! "Optimization of Collective Communication Operations in MPICH", 2005. No all-reduce moves fewer bytes than the ring:
//! Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009.

use serde::Serialize;

/// Cost of moving and adding bytes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Transport {
    /// α: latency per message.
    pub latency_seconds: f64,
    /// 1/β.
    pub bytes_per_second: f64,
    /// 1/γ; absent if the cost of adding is ignored.
    pub added_bytes_per_second: Option<f64>,
}

/// All-reduce algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AllReduce {
    /// The host reads from all devices, adds, and writes back to all of them through one memory, as in our kernels.
    ThroughHost,
    /// Each device sends to the next one: a reduce-scatter and an allgather of p - 1 messages with 1/p of the bytes.
    Ring,
}

impl AllReduce {
    pub const ALL: [Self; 2] = [Self::ThroughHost, Self::Ring];

    pub fn name(self) -> &'static str {
        match self {
            Self::ThroughHost => "through one host",
            Self::Ring => "ring",
        }
    }

    /// Returns the time of an all-reduce of `bytes` across `devices`.
    pub fn seconds(self, devices: u32, bytes: f64, by: &Transport) -> f64 {
        if devices < 2 {
            return 0.0;
        }
        let p = f64::from(devices);
        let (messages, moved, added) = match self {
            // One latency to read from all devices, one to write to all; a single memory moves all bytes.
            Self::ThroughHost => (2.0, 2.0 * p * bytes, (p - 1.0) * bytes),
            Self::Ring => (2.0 * (p - 1.0), 2.0 * (p - 1.0) / p * bytes, (p - 1.0) / p * bytes),
        };
        let adding = by.added_bytes_per_second.map_or(0.0, |rate| added / rate);
        messages * by.latency_seconds + moved / by.bytes_per_second + adding
    }
}

/// Step time on one device: a fixed cost plus a cost per sample.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Compute {
    pub fixed_seconds: f64,
    pub seconds_per_sample: f64,
}

impl Compute {
    /// Fits the model to pairs of batch size and step seconds; `None` if empty. The fixed cost is 0 for a
    /// single batch size.
    pub fn of(measured: &[(f64, f64)]) -> Option<Self> {
        let [fixed_seconds, seconds_per_sample] =
            least_squares(measured.iter().map(|&(samples, seconds)| ([1.0, samples], seconds)))?;
        Some(Self { fixed_seconds, seconds_per_sample })
    }

    pub fn seconds(&self, samples: f64) -> f64 {
        self.fixed_seconds + self.seconds_per_sample * samples
    }
}

/// Data that each device sends per step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Exchanged {
    pub exchanges: f64,
    /// Total bytes of all exchanges in one direction.
    pub bytes: f64,
}

impl Exchanged {
    pub fn seconds(&self, devices: u32, by: &Transport, all_reduce: AllReduce) -> f64 {
        self.exchanges * all_reduce.seconds(devices, self.bytes / self.exchanges, by)
    }
}

/// Mean times per step of moving and adding data in a recorded run, overlapped or not.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Observed {
    pub devices: u32,
    pub exchanged: Exchanged,
    pub transfer_seconds: f64,
    pub adding_seconds: f64,
}

impl Observed {
    /// Computes the times of a record; `None` if nothing was exchanged.
    pub fn of(record: &crate::WorkloadRecord) -> Option<Self> {
        let communication = record.communication.filter(|of| of.exchanges > 0)?;
        let steps = record.windows.iter().map(|window| f64::from(window.steps)).sum::<f64>();
        let both_ways = 2.0 * f64::from(communication.devices);
        let overlapped = communication.overlapped.unwrap_or_default();
        let transfers = communication.reading_seconds + communication.writing_seconds;
        Some(Self {
            devices: communication.devices,
            exchanged: Exchanged {
                exchanges: communication.exchanges as f64 / steps,
                bytes: communication.bytes as f64 / both_ways / steps,
            },
            transfer_seconds: (transfers + overlapped.reading_seconds + overlapped.writing_seconds) / steps,
            adding_seconds: (communication.summing_seconds + overlapped.summing_seconds) / steps,
        })
    }
}

impl Transport {
    /// Fits exchanges through the host by least squares; `None` if empty. The latency is 0 if
    /// all exchanges have the same size.
    pub fn of(observed: &[Observed]) -> Option<Self> {
        let transfers = observed.iter().map(|step| {
            let Exchanged { exchanges, bytes } = step.exchanged;
            ([2.0 * exchanges, 2.0 * f64::from(step.devices) * bytes], step.transfer_seconds)
        });
        let [latency_seconds, seconds_per_byte] = least_squares(transfers)?;
        let added: f64 = observed.iter().map(|step| f64::from(step.devices - 1) * step.exchanged.bytes).sum();
        let adding: f64 = observed.iter().map(|step| step.adding_seconds).sum();
        let added_bytes_per_second = (adding > 0.0).then(|| added / adding);
        Some(Self { latency_seconds, bytes_per_second: 1.0 / seconds_per_byte, added_bytes_per_second })
    }

    /// Fits a bandwidth, without latency, to pairs of device count and step seconds with equal samples per device,
    /// which exchange `bytes` each per step. `None` without a step on one device, or if the others are not slower.
    pub fn of_steps(measured: &[(u32, f64)], bytes: f64, all_reduce: AllReduce) -> Option<Self> {
        let alone = measured.iter().find(|(devices, _)| *devices == 1)?.1;
        let unit = Self { latency_seconds: 0.0, bytes_per_second: 1.0, added_bytes_per_second: None };
        let (mut products, mut squares) = (0.0, 0.0);
        for &(devices, seconds) in measured {
            let moved = all_reduce.seconds(devices, bytes, &unit);
            products += moved * (seconds - alone);
            squares += moved * moved;
        }
        (products > 0.0).then(|| Self { bytes_per_second: squares / products, ..unit })
    }
}

/// Step time predicted by the model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ModelledStep {
    pub compute_seconds: f64,
    pub communication_seconds: f64,
}

impl ModelledStep {
    /// Returns the total without overlap, as on software adapters.
    pub fn seconds(&self) -> f64 {
        self.compute_seconds + self.communication_seconds
    }

    /// Returns the total with complete overlap.
    pub fn overlapped_seconds(&self) -> f64 {
        self.compute_seconds.max(self.communication_seconds)
    }
}

/// Scaling model of one network on identical devices.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ScalingModel {
    pub compute: Compute,
    pub exchanged: Exchanged,
    pub transport: Transport,
}

impl ScalingModel {
    /// Predicts the step time of a batch that is split as evenly as possible; the largest share sets the pace.
    pub fn step(&self, devices: u32, batch: u32, all_reduce: AllReduce) -> ModelledStep {
        ModelledStep {
            compute_seconds: self.compute.seconds(f64::from(batch.div_ceil(devices))),
            communication_seconds: self.exchanged.seconds(devices, &self.transport, all_reduce),
        }
    }

    /// Predicts the step time on logical devices of one processor, which computes one share after another.
    pub fn step_on_one_processor(&self, devices: u32, batch: u32) -> ModelledStep {
        let step = self.step(devices, batch, AllReduce::ThroughHost);
        let share = f64::from(batch) / f64::from(devices);
        ModelledStep { compute_seconds: f64::from(devices) * self.compute.seconds(share), ..step }
    }
}

/// Fits non-negative coefficients of two columns to values, minimizing relative errors. Drops one column if both are
/// proportional or its coefficient would be negative. `None` without rows.
fn least_squares(rows: impl Iterator<Item = ([f64; 2], f64)>) -> Option<[f64; 2]> {
    let rows: Vec<[f64; 2]> = rows.filter(|(_, value)| *value > 0.0).map(|([a, b], v)| [a / v, b / v]).collect();
    let sum = |of: &dyn Fn(&[f64; 2]) -> f64| rows.iter().map(of).sum::<f64>();
    let (aa, ab, bb) = (sum(&|[a, _]| a * a), sum(&|[a, b]| a * b), sum(&|[_, b]| b * b));
    let (a, b) = (sum(&|[a, _]| *a), sum(&|[_, b]| *b));
    if bb <= 0.0 {
        return None;
    }
    let determinant = aa * bb - ab * ab;
    let alone = [0.0, b / bb];
    if determinant <= 1e-9 * aa * bb {
        return Some(alone);
    }
    let both = [(a * bb - b * ab) / determinant, (b * aa - a * ab) / determinant];
    match both {
        [first, _] if first < 0.0 => Some(alone),
        [_, second] if second < 0.0 => Some([a / aa, 0.0]),
        both => Some(both),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: Transport =
        Transport { latency_seconds: 1e-3, bytes_per_second: 1e9, added_bytes_per_second: Some(4e9) };

    fn assert_close(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{found} instead of {expected}");
    }

    #[test]
    fn rings_send_the_published_bytes() {
        // 2(p - 1)α + 2(p - 1)/p·nβ + (p - 1)/p·nγ
        assert_close(AllReduce::Ring.seconds(4, 1e6, &LINK), 6e-3 + 1.5e-3 + 0.75 * 0.25e-3);
        let many = AllReduce::Ring.seconds(1024, 1e9, &Transport { latency_seconds: 0.0, ..LINK });
        // Bytes move twice and are added once, for any number of devices.
        assert!((many / (2.0 + 0.25) - 1.0).abs() < 2e-3, "{many}");
    }

    #[test]
    fn hosts_move_all_bytes_both_ways() {
        assert_close(AllReduce::ThroughHost.seconds(4, 1e6, &LINK), 2e-3 + 8e-3 + 0.75e-3);
        // Across many devices, a ring is faster for large messages and slower for small ones.
        for (bytes, is_faster) in [(1e8, true), (1e3, false)] {
            let [host, ring] = AllReduce::ALL.map(|all_reduce| all_reduce.seconds(64, bytes, &LINK));
            assert_eq!(ring < host, is_faster, "{bytes} bytes: ring {ring}, host {host}");
        }
    }

    #[test]
    fn fits_reproduce_measurements() {
        let compute = Compute { fixed_seconds: 2e-3, seconds_per_sample: 1e-4 };
        let measured: Vec<(f64, f64)> = [8.0, 64.0, 512.0].map(|n| (n, compute.seconds(n))).to_vec();
        let found = Compute::of(&measured).unwrap();
        assert_close(found.fixed_seconds, 2e-3);
        assert_close(found.seconds_per_sample, 1e-4);
        let alone = Compute::of(&measured[..1]).unwrap();
        assert_eq!((alone.fixed_seconds, alone.seconds(16.0)), (0.0, 2.0 * measured[0].1));
        assert_eq!(Compute::of(&[]), None);
        // Step times that grow faster than the batch size do not give a negative fixed cost.
        assert_eq!(Compute::of(&[(10.0, 1.0), (20.0, 4.0)]).unwrap().fixed_seconds, 0.0);
    }

    #[test]
    fn links_are_fitted_from_different_steps() {
        let observed = |devices: u32, exchanges: f64, bytes: f64| {
            let exchanged = Exchanged { exchanges, bytes };
            let without_adding = Transport { added_bytes_per_second: None, ..LINK };
            let transfer_seconds = exchanged.seconds(devices, &without_adding, AllReduce::ThroughHost);
            let adding_seconds = exchanged.seconds(devices, &LINK, AllReduce::ThroughHost) - transfer_seconds;
            Observed { devices, exchanged, transfer_seconds, adding_seconds }
        };
        let all = [observed(2, 1.0, 4e5), observed(2, 1.0, 3e6), observed(4, 39.0, 1e6)];
        let found = Transport::of(&all).unwrap();
        assert_close(found.latency_seconds, LINK.latency_seconds);
        assert_close(found.bytes_per_second / 1e9, 1.0);
        assert_close(found.added_bytes_per_second.unwrap() / 4e9, 1.0);
        // A single step cannot separate latency from bandwidth.
        let single = Transport::of(&all[..1]).unwrap();
        assert_eq!(single.latency_seconds, 0.0);
        assert_close(AllReduce::ThroughHost.seconds(2, 4e5, &single), all[0].transfer_seconds + all[0].adding_seconds);
        assert_eq!(Transport::of(&[]), None);
    }

    #[test]
    fn bandwidth_is_fitted_to_published_steps() {
        for all_reduce in AllReduce::ALL {
            let link = Transport { latency_seconds: 0.0, bytes_per_second: 2e9, added_bytes_per_second: None };
            let steps = [1, 2, 4].map(|devices| (devices, 0.5 + all_reduce.seconds(devices, 1e8, &link)));
            assert_close(Transport::of_steps(&steps, 1e8, all_reduce).unwrap().bytes_per_second / 2e9, 1.0);
        }
        assert_eq!(Transport::of_steps(&[(2, 1.0)], 1.0, AllReduce::Ring), None);
        assert_eq!(Transport::of_steps(&[(1, 1.0), (2, 0.9)], 1.0, AllReduce::Ring), None);
    }

    #[test]
    fn divided_batches_wait_for_the_largest_share() {
        let model = ScalingModel {
            compute: Compute { fixed_seconds: 1e-3, seconds_per_sample: 1e-4 },
            exchanged: Exchanged { exchanges: 1.0, bytes: 1e6 },
            transport: LINK,
        };
        let step = model.step(4, 65, AllReduce::Ring);
        assert_close(step.compute_seconds, 1e-3 + 17e-4);
        assert_close(step.seconds(), step.compute_seconds + step.communication_seconds);
        assert_close(step.overlapped_seconds(), step.communication_seconds);
        assert_close(model.step_on_one_processor(4, 64).compute_seconds, 4e-3 + 64e-4);
        for all_reduce in AllReduce::ALL {
            assert_close(model.step(1, 65, all_reduce).communication_seconds, 0.0);
        }
    }
}

//! How long a step of synchronous data-parallel training takes on many devices, from what was measured of few: the model of
//! `docs/SCALING.md`.
//!
//! A message of n bytes takes α + n·β (Hockney, "The communication challenge for MPP: Intel Paragon and Meiko CS-2", 1994), and
//! adding n bytes n·γ. What an all-reduce is made of follows from that: Thakur, Rabenseifner and Gropp, "Optimization of
//! Collective Communication Operations in MPICH", 2005; that no all-reduce moves fewer bytes than the ring does: Patarasuk
//! and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::WorkloadRecord;

/// What moving and adding numbers costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transport {
    /// α: of a message, however short.
    pub latency_seconds: f64,
    /// 1/β.
    pub bytes_per_second: f64,
    /// 1/γ; absent where adding is not counted.
    pub added_bytes_per_second: Option<f64>,
}

/// How all devices come to have the sum of what each has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AllReduce {
    /// One host reads from all devices, adds, and writes to all, through one memory: what our kernels do.
    ThroughHost,
    /// Each device sends to the next one: a reduce-scatter and an allgather of p - 1 messages each, of 1/p of the bytes.
    Ring,
}

impl AllReduce {
    pub const ALL: [Self; 2] = [Self::ThroughHost, Self::Ring];

    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Self::ThroughHost => "through one host",
            Self::Ring => "ring",
        }
    }

    /// Seconds until all of `devices` have the sum of what each has, of so many `bytes`.
    pub fn seconds(self, devices: u32, bytes: f64, by: &Transport) -> f64 {
        if devices < 2 {
            return 0.0;
        }
        let p = f64::from(devices);
        let (messages, moved, added) = match self {
            // Both waits are for all devices at once, and all bytes pass one memory.
            Self::ThroughHost => (2.0, 2.0 * p * bytes, (p - 1.0) * bytes),
            Self::Ring => (2.0 * (p - 1.0), 2.0 * (p - 1.0) / p * bytes, (p - 1.0) / p * bytes),
        };
        let adding = by.added_bytes_per_second.map_or(0.0, |rate| added / rate);
        messages * by.latency_seconds + moved / by.bytes_per_second + adding
    }
}

/// What a step costs a device by itself: something fixed, and something for each sample.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Compute {
    pub fixed_seconds: f64,
    pub seconds_per_sample: f64,
}

impl Compute {
    /// From samples of a batch and seconds of a step, as measured; of a single batch size nothing is called fixed. `None` of
    /// nothing.
    pub fn of(measured: &[(f64, f64)]) -> Option<Self> {
        let [fixed_seconds, seconds_per_sample] =
            least_squares(measured.iter().map(|&(samples, seconds)| ([1.0, samples], seconds)))?;
        Some(Self { fixed_seconds, seconds_per_sample })
    }

    pub fn seconds(&self, samples: f64) -> f64 {
        self.fixed_seconds + self.seconds_per_sample * samples
    }
}

/// What a device tells the others in a step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Exchanged {
    pub exchanges: f64,
    /// All exchanges together, in one direction.
    pub bytes: f64,
}

impl Exchanged {
    pub fn seconds(&self, devices: u32, by: &Transport, all_reduce: AllReduce) -> f64 {
        self.exchanges * all_reduce.seconds(devices, self.bytes / self.exchanges, by)
    }
}

/// What a record of several devices says of a step: what moving and adding took, whether or not it was waited for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Observed {
    pub devices: u32,
    pub exchanged: Exchanged,
    pub transfer_seconds: f64,
    pub adding_seconds: f64,
}

impl Observed {
    /// `None` of one device, and of a record that timed nothing.
    pub fn of(record: &WorkloadRecord) -> Option<Self> {
        let told = record.communication.filter(|told| told.exchanges > 0)?;
        let steps = record.windows.iter().map(|window| f64::from(window.steps)).sum::<f64>();
        let both_ways = 2.0 * f64::from(told.devices);
        let overlapped = told.overlapped.unwrap_or_default();
        let transfers = told.reading_seconds + told.writing_seconds;
        Some(Self {
            devices: told.devices,
            exchanged: Exchanged {
                exchanges: told.exchanges as f64 / steps,
                bytes: told.bytes as f64 / both_ways / steps,
            },
            transfer_seconds: (transfers + overlapped.reading_seconds + overlapped.writing_seconds) / steps,
            adding_seconds: (told.summing_seconds + overlapped.summing_seconds) / steps,
        })
    }
}

impl Transport {
    /// What steps through one host say, by least squares. Of steps that all move as many bytes nothing is called latency.
    /// `None` of nothing.
    pub fn of(observed: &[Observed]) -> Option<Self> {
        let transfers = observed.iter().map(|step| {
            let Exchanged { exchanges, bytes } = step.exchanged;
            ([2.0 * exchanges, 2.0 * f64::from(step.devices) * bytes], step.transfer_seconds)
        });
        let [latency_seconds, seconds_per_byte] = least_squares(transfers)?;
        let added: f64 = observed.iter().map(|step| f64::from(step.devices - 1) * step.exchanged.bytes).sum();
        let adding: f64 = observed.iter().map(|step| step.adding_seconds).sum();
        Some(Self {
            latency_seconds,
            bytes_per_second: 1.0 / seconds_per_byte,
            added_bytes_per_second: (adding > 0.0).then(|| added / adding),
        })
    }

    /// The one without latency by which steps that were measured on several devices, each with as many samples, come closest
    /// to the step of one: numbers of devices with seconds of a step, and the bytes that each has. `None` where one device
    /// is not among them, or nobody else, or no step is longer.
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

/// A step as the model has it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelledStep {
    pub compute_seconds: f64,
    pub communication_seconds: f64,
}

impl ModelledStep {
    /// One after the other, as our kernels do it on software adapters.
    pub fn seconds(&self) -> f64 {
        self.compute_seconds + self.communication_seconds
    }

    /// The least that overlapping both could bring it to.
    pub fn overlapped_seconds(&self) -> f64 {
        self.compute_seconds.max(self.communication_seconds)
    }
}

/// A network on devices of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Model {
    pub compute: Compute,
    pub exchanged: Exchanged,
    pub transport: Transport,
}

impl Model {
    /// A step of a batch of so many samples, divided as evenly as can be: the largest share is waited for.
    pub fn step(&self, devices: u32, batch: u32, all_reduce: AllReduce) -> ModelledStep {
        ModelledStep {
            compute_seconds: self.compute.seconds(f64::from(batch.div_ceil(devices))),
            communication_seconds: self.exchanged.seconds(devices, &self.transport, all_reduce),
        }
    }

    /// The same on logical devices of one processor, whose cores do one share after the other.
    pub fn step_on_one_processor(&self, devices: u32, batch: u32) -> ModelledStep {
        let step = self.step(devices, batch, AllReduce::ThroughHost);
        let share = f64::from(batch) / f64::from(devices);
        ModelledStep { compute_seconds: f64::from(devices) * self.compute.seconds(share), ..step }
    }
}

/// The two factors, neither below zero, with which the columns come closest to the values, each relative to itself. Where the
/// columns say the same, or one factor would be negative, the second one explains all, or else the first. `None` of nothing.
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

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{found} instead of {expected}");
    }

    #[test]
    fn one_device_tells_nobody_anything() {
        for all_reduce in AllReduce::ALL {
            close(all_reduce.seconds(1, 1e6, &LINK), 0.0);
        }
    }

    #[test]
    fn a_ring_sends_what_its_authors_say() {
        // 2(p - 1)α + 2(p - 1)/p·nβ + (p - 1)/p·nγ
        close(AllReduce::Ring.seconds(4, 1e6, &LINK), 6e-3 + 1.5e-3 + 0.75 * 0.25e-3);
        let many = AllReduce::Ring.seconds(1024, 1e9, &Transport { latency_seconds: 0.0, ..LINK });
        // Twice the bytes, and once added, however many devices there are.
        assert!((many / (2.0 + 0.25) - 1.0).abs() < 2e-3, "{many}");
    }

    #[test]
    fn a_host_moves_the_bytes_of_all_devices_both_ways() {
        close(AllReduce::ThroughHost.seconds(4, 1e6, &LINK), 2e-3 + 8e-3 + 0.75e-3);
        // Of large messages among many devices a ring is faster, of short ones slower.
        for (bytes, is_faster) in [(1e8, true), (1e3, false)] {
            let [host, ring] = AllReduce::ALL.map(|all_reduce| all_reduce.seconds(64, bytes, &LINK));
            assert_eq!(ring < host, is_faster, "{bytes} bytes: ring {ring}, host {host}");
        }
    }

    #[test]
    fn what_was_measured_comes_out_of_the_fit_again() {
        let compute = Compute { fixed_seconds: 2e-3, seconds_per_sample: 1e-4 };
        let measured: Vec<(f64, f64)> = [8.0, 64.0, 512.0].map(|n| (n, compute.seconds(n))).to_vec();
        let found = Compute::of(&measured).unwrap();
        close(found.fixed_seconds, 2e-3);
        close(found.seconds_per_sample, 1e-4);
        let alone = Compute::of(&measured[..1]).unwrap();
        assert_eq!((alone.fixed_seconds, alone.seconds(16.0)), (0.0, 2.0 * measured[0].1));
        assert_eq!(Compute::of(&[]), None);
        // A larger batch that is faster than proportional has no negative part.
        assert_eq!(Compute::of(&[(10.0, 1.0), (20.0, 4.0)]).unwrap().fixed_seconds, 0.0);
    }

    #[test]
    fn a_link_is_found_from_steps_that_move_different_amounts() {
        let observed = |devices: u32, exchanges: f64, bytes: f64| {
            let exchanged = Exchanged { exchanges, bytes };
            let without_adding = Transport { added_bytes_per_second: None, ..LINK };
            let transfer_seconds = exchanged.seconds(devices, &without_adding, AllReduce::ThroughHost);
            let adding_seconds = exchanged.seconds(devices, &LINK, AllReduce::ThroughHost) - transfer_seconds;
            Observed { devices, exchanged, transfer_seconds, adding_seconds }
        };
        let all = [observed(2, 1.0, 4e5), observed(2, 1.0, 3e6), observed(4, 39.0, 1e6)];
        let found = Transport::of(&all).unwrap();
        close(found.latency_seconds, LINK.latency_seconds);
        close(found.bytes_per_second / 1e9, 1.0);
        close(found.added_bytes_per_second.unwrap() / 4e9, 1.0);
        // A single step tells no latency from its bytes.
        let single = Transport::of(&all[..1]).unwrap();
        assert_eq!(single.latency_seconds, 0.0);
        close(AllReduce::ThroughHost.seconds(2, 4e5, &single), all[0].transfer_seconds + all[0].adding_seconds);
        assert_eq!(Transport::of(&[]), None);
    }

    #[test]
    fn published_steps_have_the_bandwidth_that_explains_them() {
        for all_reduce in AllReduce::ALL {
            let link = Transport { latency_seconds: 0.0, bytes_per_second: 2e9, added_bytes_per_second: None };
            let steps = [1, 2, 4].map(|devices| (devices, 0.5 + all_reduce.seconds(devices, 1e8, &link)));
            close(Transport::of_steps(&steps, 1e8, all_reduce).unwrap().bytes_per_second / 2e9, 1.0);
        }
        assert_eq!(Transport::of_steps(&[(2, 1.0)], 1.0, AllReduce::Ring), None);
        assert_eq!(Transport::of_steps(&[(1, 1.0), (2, 0.9)], 1.0, AllReduce::Ring), None);
    }

    #[test]
    fn a_divided_batch_waits_for_its_largest_share_and_logical_devices_for_each_other() {
        let model = Model {
            compute: Compute { fixed_seconds: 1e-3, seconds_per_sample: 1e-4 },
            exchanged: Exchanged { exchanges: 1.0, bytes: 1e6 },
            transport: LINK,
        };
        let step = model.step(4, 65, AllReduce::Ring);
        close(step.compute_seconds, 1e-3 + 17e-4);
        close(step.seconds(), step.compute_seconds + step.communication_seconds);
        close(step.overlapped_seconds(), step.communication_seconds);
        close(model.step_on_one_processor(4, 64).compute_seconds, 4e-3 + 64e-4);
        close(model.step(1, 65, AllReduce::ThroughHost).communication_seconds, 0.0);
    }
}

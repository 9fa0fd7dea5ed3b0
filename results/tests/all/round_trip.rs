//! A record that is written as JSON and read again is the same record, to the last bit.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use results::{
    Adapter, Beacon, Client, ClientKind, ColdStart, Communication, Compared, Correctness, CurvePoint, Device,
    DeviceKind, Disagreement, EnergySource, Epoch, Evaluation, ExchangeSeconds, FailureCause, InputMode, InputPipeline,
    Outcome, PeakSample, Phase, Precision, Provenance, ResourceSample, Resources, RunRecord, SCHEMA_VERSION, Segment,
    Settings, Stretch, Suite, Target, Warning, WeightSample, WholeBatch, Window, WorkloadRecord, summary,
};

/// Every finite number, the subnormal and the negative zero among them.
fn number() -> impl Strategy<Value = f64> {
    any::<f64>().prop_filter("JSON has only finite numbers", |x| x.is_finite())
}

fn single() -> impl Strategy<Value = f32> {
    any::<f32>().prop_filter("JSON has only finite numbers", |x| x.is_finite())
}

fn text() -> impl Strategy<Value = String> {
    ".{0,12}"
}

prop_compose! {
    fn settings()(
        batch_size in any::<u32>(), learning_rate in number(), double in any::<bool>(), samples in any::<[u32; 2]>(),
        sizes in any::<[u64; 3]>(), variants in vec(text(), 0..3), chance_accuracy in option::of(number()),
    ) -> Settings {
        Settings {
            batch_size, learning_rate, precision: if double { Precision::F64 } else { Precision::F32 },
            training_samples: samples[0], test_samples: samples[1], chance_accuracy, parameters: sizes[0],
            training_flops_per_sample: sizes[1], device_memory_bytes: sizes[2], variants,
        }
    }
}

const CAUSES: [FailureCause; 5] = [
    FailureCause::DoesNotFit,
    FailureCause::OutOfMemory,
    FailureCause::DeviceRefused,
    FailureCause::Data,
    FailureCause::Unsupported,
];

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        Just(Outcome::Completed),
        any::<u64>().prop_map(|step| Outcome::Diverged { step }),
        Just(Outcome::Incorrect),
        Just(Outcome::Cancelled),
        (0..CAUSES.len(), ".{0,40}").prop_map(|(cause, reason)| Outcome::Failed { cause: CAUSES[cause], reason }),
    ]
}

prop_compose! {
    fn whole_batch()(
        batch_size in any::<u32>(), part_size in any::<u32>(), loss in number(), loss_of_parts in number(),
        gradient_difference in number(), gradient_tolerance in number(), passed in any::<bool>(),
    ) -> WholeBatch {
        WholeBatch { batch_size, part_size, loss, loss_of_parts, gradient_difference, gradient_tolerance, passed }
    }
}

prop_compose! {
    fn difference()(which in 0..5usize, largest_difference in number(), tolerance in number()) -> Disagreement {
        let compared = Compared::OF_FIRST_STEPS[which];
        Disagreement { compared, largest_difference, tolerance }
    }
}

prop_compose! {
    fn correctness()(
        losses in vec(number(), 0..4), tolerance in number(), largest_difference in number(), passed in any::<bool>(),
        differences in vec(difference(), 0..5), whole_batch in option::of(whole_batch()), redraws in 0..3u32,
    ) -> Correctness {
        let reference_losses = losses.clone();
        Correctness {
            batch_size: 16, redraws, reference_losses, losses, tolerance, largest_difference, differences, whole_batch, passed,
        }
    }
}

prop_compose! {
    fn curves()(
        points in vec((any::<u64>(), number(), number(), number(), number()), 0..4),
        windows in vec((any::<u32>(), 0..1u64 << 32, 0.0..1e6), 0..8),
        peaks in vec((0..8u32, 1.0..1e15, option::of(number())), 0..4),
        weights in vec((any::<u32>(), any::<u32>(), single()), 0..4),
    ) -> (Vec<CurvePoint>, Vec<Evaluation>, Vec<Epoch>, Vec<Window>, Vec<PeakSample>, Vec<WeightSample>) {
        let curve = |&(step, training_seconds, loss, accuracy, _): &_| {
            CurvePoint { step, training_seconds, loss, accuracy }
        };
        let evaluation = |&(step, training_seconds, loss, accuracy, seconds): &_| {
            Evaluation { step, training_seconds, seconds, loss, accuracy }
        };
        let epoch = |(i, &(_, seconds, loss, accuracy, _)): (u32, &_)| Epoch { epoch: i, seconds, loss, accuracy };
        let peak = |(window, flops_per_second, copied_bytes_per_second)| {
            PeakSample { window, flops_per_second, copied_bytes_per_second }
        };
        (
            points.iter().map(curve).collect(),
            points.iter().map(evaluation).collect(),
            (1..).zip(&points).map(epoch).collect(),
            windows.into_iter().map(|(steps, samples, seconds)| Window { steps, samples, seconds }).collect(),
            peaks.into_iter().map(peak).collect(),
            weights.into_iter().map(|(tensor, index, value)| WeightSample { tensor, index, value }).collect(),
        )
    }
}

prop_compose! {
    fn proof()(
        stretches in vec((any::<bool>(), number()), 0..4),
        segments in vec((any::<[u8; 16]>(), text()), 0..4),
    ) -> (Vec<Stretch>, Vec<Segment>) {
        let phase = |timed| if timed { Phase::Training } else { Phase::MeasuringPeak };
        let segment = |(beacon, state_sha256)| Segment { beacon: Beacon(beacon), state_sha256 };
        (
            stretches.into_iter().map(|(timed, seconds)| Stretch { phase: phase(timed), seconds }).collect(),
            segments.into_iter().map(segment).collect(),
        )
    }
}

prop_compose! {
    fn resources()(
        memory in option::of(any::<u64>()), percent in option::of(number()), which in option::of(0..3usize),
        samples in vec((number(), option::of(number()), option::of(any::<u64>()), option::of(number())), 0..4),
    ) -> Resources {
        let sources = [EnergySource::GpuCounter, EnergySource::GpuPower, EnergySource::ProcessorCounter];
        let sample = |(seconds, gpu, gpu_memory_bytes, processor_energy_joules)| ResourceSample {
            seconds, gpu_memory_bytes, processor_energy_joules, gpu_busy_percent: gpu, gpu_power_watts: gpu,
            gpu_energy_joules: gpu, gpu_clock_hertz: gpu, gpu_temperature_celsius: gpu,
        };
        Resources {
            resident_memory_average_bytes: memory, cpu_user_percent: percent, machine_io_wait_percent: percent,
            energy_source: which.map(|which| sources[which]), samples: samples.into_iter().map(sample).collect(),
            ..Resources::default()
        }
    }
}

prop_compose! {
    fn workload()(
        workload in text(), described in option::of(text()), settings in settings(), outcome in outcome(), correctness in option::of(correctness()),
        cold in option::of(number()), first_losses in vec(single(), 0..5),
        (curve, evaluations, epochs, windows, peaks, weight_samples) in curves(),
        target in option::of((number(), option::of(number()), option::of(any::<u64>()))),
        resources in resources(), (timeline, segments) in proof(),
    ) -> WorkloadRecord {
        let mut record = WorkloadRecord {
            network: described.map(|name| serde_json::json!({ "name": name })),
            workload, settings, outcome, correctness, first_losses, curve, evaluations, epochs, windows, peaks,
            timeline, segments, weight_samples, cold_start: ColdStart { data_seconds: cold, tuning_seconds: cold, ..ColdStart::default() },
            target: target.map(|(accuracy, reached_seconds, reached_step)| {
                Target { accuracy, reached_seconds, reached_step }
            }),
            resources,
            communication: Some(Communication {
                devices: 2, exchanges: 9, bytes: 1 << 20, reading_seconds: 0.5, summing_seconds: 0.25, writing_seconds: 0.125,
                overlapped: Some(ExchangeSeconds { reading_seconds: 2.0, summing_seconds: 4.0, writing_seconds: 8.0 }),
            }),
            input: Some(InputPipeline {
                mode: InputMode::Prefetch, batches: 9, bytes: 1 << 20, preparing_seconds: 0.5, uploading_seconds: 0.25,
                waiting_seconds: 0.125,
            }),
            summary: results::Summary::default(),
        };
        // A figure that overflows cannot be written; the server refuses such a record.
        let figures = summary::summarise(&record);
        let written = serde_json::to_value(&figures).unwrap();
        if serde_json::from_value::<results::Summary>(written).is_ok_and(|read| read == figures) {
            record.summary = figures;
        }
        record
    }
}

fn warning() -> impl Strategy<Value = Warning> {
    prop_oneof![
        text().prop_map(|name| Warning::SoftwareAdapter { name }),
        (number(), any::<u32>())
            .prop_map(|(flops_per_second, processors)| Warning::PerhapsSoftware { flops_per_second, processors }),
        (text(), number())
            .prop_map(|(workload, half_width_percent)| Warning::NotStabilised { workload, half_width_percent }),
        (text(), any::<u32>()).prop_map(|(workload, windows)| Warning::TooFewWindows { workload, windows }),
        (text(), number(), number()).prop_map(|(workload, accuracy, chance)| Warning::NotLearned {
            workload,
            accuracy,
            chance
        }),
        (text(), number()).prop_map(|(workload, budget_seconds)| Warning::StoppedByBudget { workload, budget_seconds }),
        (number(), number()).prop_map(|(seconds, paused_seconds)| Warning::TabHidden { seconds, paused_seconds }),
        number().prop_map(|resolution_seconds| Warning::CoarseTimer { resolution_seconds }),
        text().prop_map(|backend| Warning::Untuned { backend }),
        (text(), any::<u32>()).prop_map(|(workload, steps)| Warning::TuningNotSettled { workload, steps }),
        Just(Warning::NoWakeLock),
        Just(Warning::OnBattery),
        number().prop_map(|share| Warning::ProcessorPressed { share }),
        Just(Warning::NotIsolated),
        text().prop_map(|reason| Warning::Unregistered { reason }),
        (text(), text()).prop_map(|(workload, reason)| Warning::CheckpointMissed { workload, reason }),
        text().prop_map(|workload| Warning::GeneratedData { workload }),
        text().prop_map(|workload| Warning::StoppedEarly { workload }),
    ]
}

fn kind() -> impl Strategy<Value = DeviceKind> {
    let kinds =
        [DeviceKind::Discrete, DeviceKind::Integrated, DeviceKind::Virtual, DeviceKind::Cpu, DeviceKind::Unknown];
    prop::sample::select(kinds.to_vec())
}

prop_compose! {
    fn record()(
        ids in option::of((text(), text())), seed in any::<u32>(), non_standard in vec(text(), 0..3),
        texts in vec(text(), 14), times in (number(), number()), kind in kind(), software in any::<bool>(),
        browser in any::<bool>(), logical_processors in option::of(any::<u32>()), claimed_name in option::of(text()),
        workloads in vec(workload(), 0..3), warnings in vec(warning(), 0..4),
    ) -> RunRecord {
        let word = |i: usize| texts[i].clone();
        RunRecord {
            schema_version: SCHEMA_VERSION, run_id: ids.clone().map(|i| i.0), nonce: ids.map(|i| i.1), seed,
            suite: Suite { name: word(0), version: 1 }, non_standard,
            provenance: Provenance {
                engine_version: word(1), commit: word(2), started_unix_seconds: times.0, wall_seconds: times.1,
                client: Client {
                    kind: if browser { ClientKind::Browser } else { ClientKind::Native },
                    name: word(3), version: word(4), operating_system: word(5), logical_processors,
                },
            },
            device: Device {
                requested_adapter: word(6), requested_backend: word(7), backend: word(8), claimed_name,
                adapter: Adapter {
                    name: word(9), vendor: word(10), architecture: word(11), kind, api: word(12), driver: word(13),
                    software,
                },
            },
            workloads, warnings,
        }
    }
}

proptest! {
    #[test]
    fn a_record_survives_json(record in record()) {
        let text = serde_json::to_string(&record).unwrap();
        let read: RunRecord = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(read, record);
    }
}

//! What steps that were published of one, two and four GPUs say of eight.

use results::scaling::{AllReduce, Transport};
use serde::Serialize;

/// GTDLBench, Table VIII: Tesla M60, Server-2; as many samples for each GPU.
const TABLE: [Published; 3] = [
    Published {
        what: "TensorFlow, Inception-v3 on ImageNet, 32 samples for each GPU",
        // About 25 million, as the paper says.
        parameters: Parameters::Known(25_000_000),
        iterations: 100_000.0,
        seconds: [(1, 111_781.2), (2, 118_972.3), (4, 131_796.7)],
    },
    Published {
        what: "Caffe, MNIST, 64 samples for each GPU",
        parameters: Parameters::Of("caffe-mnist"),
        iterations: 10_000.0,
        seconds: [(1, 135.96), (2, 146.67), (4, 155.8)],
    },
    Published {
        what: "Caffe, CIFAR-10, 100 samples for each GPU",
        parameters: Parameters::Of("caffe-cifar10"),
        iterations: 5_000.0,
        seconds: [(1, 184.19), (2, 188.74), (4, 192.73)],
    },
];
/// As many as nobody published.
const ASKED: u32 = 8;

struct Published {
    what: &'static str,
    parameters: Parameters,
    iterations: f64,
    /// Of the whole training, by the number of GPUs.
    seconds: [(u32, f64); 3],
}

enum Parameters {
    Known(u64),
    Of(&'static str),
}

/// One published network under one way to come to the sum.
#[derive(Serialize)]
pub(super) struct PublishedScaling {
    pub(super) what: &'static str,
    pub(super) gradient_bytes: f64,
    pub(super) all_reduce: AllReduce,
    /// By which the model comes closest.
    pub(super) bytes_per_second: f64,
    pub(super) steps: Vec<PublishedStep>,
}

#[derive(Serialize)]
pub(super) struct PublishedStep {
    pub(super) devices: u32,
    /// Absent where nobody published it.
    pub(super) published_seconds: Option<f64>,
    pub(super) model_seconds: f64,
    /// Throughput of the model over that of as many single GPUs.
    pub(super) model_efficiency: f64,
}

/// Every row under every way.
pub(super) fn all() -> Vec<PublishedScaling> {
    TABLE.iter().flat_map(|row| AllReduce::ALL.into_iter().filter_map(|all_reduce| row.scaled(all_reduce))).collect()
}

impl Published {
    fn parameters(&self) -> Option<u64> {
        match self.parameters {
            Parameters::Known(count) => Some(count),
            Parameters::Of(name) => engine::workload(name)?.model.parameters().ok(),
        }
    }

    fn scaled(&self, all_reduce: AllReduce) -> Option<PublishedScaling> {
        let gradient_bytes = 4.0 * self.parameters()? as f64;
        let steps = self.seconds.map(|(devices, seconds)| (devices, seconds / self.iterations));
        let transport = Transport::of_steps(&steps, gradient_bytes, all_reduce)?;
        let (_, alone) = steps[0];
        let step = |(devices, published_seconds): (u32, Option<f64>)| {
            let model_seconds = alone + all_reduce.seconds(devices, gradient_bytes, &transport);
            PublishedStep { devices, published_seconds, model_seconds, model_efficiency: alone / model_seconds }
        };
        let asked = steps.into_iter().map(|(devices, seconds)| (devices, Some(seconds))).chain([(ASKED, None)]);
        Some(PublishedScaling {
            what: self.what,
            gradient_bytes,
            all_reduce,
            bytes_per_second: transport.bytes_per_second,
            steps: asked.map(step).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_published_row_comes_to_eight_devices_under_both_ways() {
        let all = all();
        assert_eq!(all.len(), TABLE.len() * AllReduce::ALL.len());
        for row in &all {
            let last = row.steps.last().unwrap();
            assert_eq!((last.devices, last.published_seconds), (ASKED, None), "{}", row.what);
            // A fit goes through what was published on one, and near it on two and four.
            for step in &row.steps[..3] {
                let off = step.model_seconds / step.published_seconds.unwrap() - 1.0;
                assert!(off.abs() < 0.08, "{} on {}: off by {off}", row.what, step.devices);
            }
            assert!(
                last.model_efficiency < row.steps[2].model_efficiency && last.model_efficiency > 0.5,
                "{}",
                row.what
            );
        }
    }
}

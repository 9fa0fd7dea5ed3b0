//! What is asked and answered.

use results::{DeviceKind, Layout};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::{Model, Shape, TensorSpec};
use crate::training::{Loss, Optimizer};

/// Version of the protocol in `docs/EXTERNAL.md`.
pub const PROTOCOL_VERSION: u32 = 1;
/// Names and sentences of a program are no longer than this.
const LONGEST_TEXT: usize = 100;

#[derive(Serialize)]
#[serde(tag = "message", rename_all = "snake_case")]
pub(super) enum Question<'a> {
    Hello {
        protocol: u32,
    },
    Build(Build<'a>),
    Train {
        network: u32,
        steps: Vec<StepToTrain>,
    },
    Evaluate {
        network: u32,
        rows: Vec<u32>,
    },
    Weights {
        network: u32,
    },
    Gradients {
        network: u32,
    },
    Logits {
        network: u32,
        rows: u32,
    },
    /// Nobody answers.
    Forget {
        network: u32,
    },
}

impl Question<'_> {
    pub(super) fn header(&self) -> Value {
        serde_json::to_value(self).expect("questions are plain data")
    }
}

/// A network with all that training it takes. Start values of the tensors follow.
#[derive(Serialize)]
pub(super) struct Build<'a> {
    pub(super) network: u32,
    pub(super) model: &'a Model,
    /// What each of its nodes makes of one sample.
    pub(super) shapes: Vec<Shape>,
    pub(super) tensors: &'a [TensorSpec],
    pub(super) loss: Loss,
    pub(super) optimizer: &'a Optimizer,
    pub(super) classes: u32,
    /// Every number of samples that a batch has in training, a whole batch first: a program can get ready for them.
    pub(super) batch_sizes: Vec<u32>,
    /// The same in tests.
    pub(super) test_batch_sizes: Vec<u32>,
    /// Dropout layers that drop in training, each with a mask in every training batch.
    pub(super) dropouts: Vec<DropoutPlace>,
    /// How images are to lie; absent where that is left to the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) layout: Option<Layout>,
}

/// A dropout layer: its node, and how many values of a sample it sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct DropoutPlace {
    pub(super) node: usize,
    pub(super) features: u32,
}

#[derive(Serialize)]
pub(super) struct StepToTrain {
    /// From 0.
    pub(super) step: u64,
    pub(super) rows: u32,
    /// That of the schedule.
    pub(super) scheduled_rate: f64,
    /// The same with the correction that the rule has for this step: Adam's.
    pub(super) learning_rate: f64,
}

#[derive(Deserialize)]
pub(super) struct Introduction {
    pub(super) protocol: u32,
    pub(super) framework: String,
    pub(super) version: String,
    pub(super) device: String,
    #[serde(default)]
    pub(super) device_kind: Option<DeviceKind>,
}

#[derive(Deserialize)]
pub(super) struct Built {
    /// What making its step ready took, where it can tell.
    #[serde(default)]
    pub(super) compiling_seconds: Option<f64>,
    #[serde(default)]
    pub(super) memory_bytes: u64,
    /// `what: which` for each choice of the program's that a reader should know.
    #[serde(default)]
    pub(super) settings: Vec<String>,
    /// How images lie, where the program has a choice and tells.
    #[serde(default)]
    pub(super) layout: Option<Layout>,
}

#[derive(Deserialize)]
pub(super) struct Trained {
    /// One for each step. A number that is none is null.
    pub(super) losses: Vec<Option<f64>>,
    pub(super) correct: u64,
    /// From the first step's beginning, with its batch at hand, until the device had finished the last.
    pub(super) seconds: f64,
}

#[derive(Deserialize)]
pub(super) struct Evaluated {
    /// Sum over the samples.
    pub(super) loss: Option<f64>,
    pub(super) correct: u64,
    pub(super) seconds: f64,
}

#[derive(Deserialize)]
pub(super) struct Refusal {
    pub(super) error: String,
    #[serde(default)]
    pub(super) cause: Cause,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Cause {
    /// A layer, an optimiser or a loss that the program does not have.
    Unsupported,
    OutOfMemory,
    #[default]
    Failed,
}

/// A sentence of the program's, without what would spoil a table.
pub(super) fn short(text: &str) -> String {
    let words: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    words.trim().chars().take(LONGEST_TEXT).collect()
}

//! Questions to a program, and its answers.

use results::Layout;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::EngineError;
use crate::model::{Model, Shape, TensorSpec};
use crate::training::{Loss, Optimizer};

/// Version of the protocol in `docs/EXTERNAL.md`.
pub const PROTOCOL_VERSION: u32 = 1;
/// Names and sentences of a program are no longer than this.
const LONGEST_TEXT: usize = 100;
/// Three years: a longer time is in another unit.
const LONGEST_SECONDS: f64 = 1e8;

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

/// An answer, whose fields are read one by one so that an error can name the field.
pub(super) struct Answer {
    pub(super) program: &'static str,
    /// Name of the message that it answers.
    pub(super) message: String,
    pub(super) header: Value,
    pub(super) payload: Vec<u8>,
    /// Time from the end of the message's transfer to the answer.
    pub(super) seconds: f64,
}

impl Answer {
    /// # Errors
    /// A field that is missing or of another type.
    pub(super) fn field<T: DeserializeOwned>(&self, name: &str) -> Result<T, EngineError> {
        let value = self.header.get(name).ok_or_else(|| self.wrong(name, "is missing"))?;
        T::deserialize(value)
            .map_err(|error| self.wrong(name, &format!("cannot be read: {}", short(&error.to_string()))))
    }

    /// As [`Self::field`], where the field may be missing or null.
    ///
    /// # Errors
    /// A field of another type.
    pub(super) fn optional<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, EngineError> {
        match self.header.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(_) => self.field(name).map(Some),
        }
    }

    /// A field with a time.
    ///
    /// # Errors
    /// A number below 0 or of years.
    pub(super) fn time(&self, name: &str) -> Result<Option<f64>, EngineError> {
        let seconds: Option<f64> = self.optional(name)?;
        match seconds.filter(|seconds| !(0.0..LONGEST_SECONDS).contains(seconds)) {
            None => Ok(seconds),
            Some(wrong) => Err(self.wrong(name, &format!("is {wrong}, and must be a number of seconds"))),
        }
    }

    /// A field with a number of right answers among `samples`.
    ///
    /// # Errors
    /// A number above that.
    pub(super) fn correct(&self, samples: u64) -> Result<u64, EngineError> {
        let correct: u64 = self.field("correct")?;
        if correct > samples {
            return Err(self.wrong("correct", &format!("is {correct}, and the message has {samples} samples")));
        }
        Ok(correct)
    }

    /// The loss of step `step`, or of a test before it, from the field `name`. Null stands for NaN and infinity, which
    /// training can reach, but not before its first update.
    ///
    /// # Errors
    /// Anything else that is no number.
    pub(super) fn loss(&self, name: &str, value: &Value, step: u64) -> Result<f64, EngineError> {
        if value.is_null() && step > 0 {
            return Ok(f64::NAN);
        }
        value.as_f64().ok_or_else(|| {
            let value = short(&value.to_string());
            self.wrong(name, &format!("is {value} at step {step}, and must be a finite number"))
        })
    }

    /// The payload, of `count` numbers.
    ///
    /// # Errors
    /// More or fewer bytes.
    pub(super) fn numbers(&self, count: usize) -> Result<Vec<f32>, EngineError> {
        let bytes = self.payload.len();
        if bytes != 4 * count {
            return Err(self.wrong("bytes", &format!("is {bytes}, and {count} numbers of four bytes are due")));
        }
        let number = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().expect("chunks of four"));
        Ok(self.payload.chunks_exact(4).map(number).collect())
    }

    /// An error that names the field.
    pub(super) fn wrong(&self, field: &str, what: &str) -> EngineError {
        self.broken(&format!("the field `{field}` of its answer {what}"))
    }

    /// An error that names the message.
    pub(super) fn broken(&self, what: &str) -> EngineError {
        let message = format!("after the message `{}`, {what}", self.message);
        EngineError::ProgramFailed { program: self.program.to_owned(), message }
    }
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

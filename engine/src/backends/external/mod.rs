//! External program as a backend. It receives layers, initial weights, batches and dropout masks, and returns losses
//! and the data for a check. `docs/EXTERNAL.md` describes the protocol. The engine does not start programs: the caller
//! implements [`Program`].

#[cfg(test)]
mod tests;
mod trainer;

use std::cell::Cell;
use std::rc::Rc;

use async_trait::async_trait;
use results::{Adapter, DeviceKind, Layout, Precision};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{KNOWN_BACKENDS, check_f32};
use crate::clock::Clock;
use crate::error::{EngineError, Result};
use crate::model::{Model, Shape, TensorSpec};
use crate::trainer::{Backend, BackendFacts, Trainer, TrainingJob};
use crate::training::{Loss, Optimizer};

use trainer::ExternalTrainer;

#[async_trait(?Send)]
pub trait Program {
    fn send(&self, message: Message) -> Result<()>;

    /// Waits for the answer to the last message.
    async fn receive(&self) -> Result<Message>;
}

/// JSON object followed by bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Message {
    pub header: Value,
    pub payload: Vec<u8>,
}

pub struct ExternalBackend {
    conversation: Conversation,
    facts: BackendFacts,
    layout: Option<Layout>,
    networks: Cell<u32>,
}

impl ExternalBackend {
    /// Performs the handshake with a program. `name` must have passed [`checked_name`]. Fails on another protocol
    /// version, and on any precision but f32.
    pub async fn meet(
        name: &'static str,
        program: Rc<dyn Program>,
        clock: Rc<dyn Clock>,
        precision: Precision,
        layout: Option<Layout>,
    ) -> Result<Self> {
        check_f32(format!("the external program `{name}`"), precision, "the protocol supports only f32")?;
        let conversation = Conversation { name, program, clock };
        let answer = conversation.ask(&Question::Hello { protocol: PROTOCOL_VERSION }, Vec::new()).await?;
        let theirs: u32 = answer.field("protocol")?;
        if theirs != PROTOCOL_VERSION {
            return Err(answer.wrong("protocol", &format!("is {theirs}, but must be {PROTOCOL_VERSION}")));
        }
        let text = |field: &str| answer.field::<String>(field).map(|text| short(&text));
        let adapter = Adapter {
            name: text("device")?,
            kind: answer.optional("device_kind")?.unwrap_or(DeviceKind::Unknown),
            api: text("framework")?,
            driver: text("version")?,
            ..Adapter::default()
        };
        let facts = BackendFacts::new(name, adapter, precision);
        Ok(Self { conversation, facts, layout, networks: Cell::new(0) })
    }
}

#[async_trait(?Send)]
impl Backend for ExternalBackend {
    fn facts(&self) -> &BackendFacts {
        &self.facts
    }

    async fn build(&self, job: &TrainingJob) -> Result<Box<dyn Trainer>> {
        let network = self.networks.get();
        self.networks.set(network.wrapping_add(1));
        Ok(Box::new(ExternalTrainer::new(self.conversation.clone(), network, self.layout, job).await?))
    }
}

#[derive(Clone)]
struct Conversation {
    name: &'static str,
    program: Rc<dyn Program>,
    clock: Rc<dyn Clock>,
}

impl Conversation {
    async fn ask(&self, question: &Question<'_>, payload: Vec<u8>) -> Result<Answer> {
        let header = question.header();
        let name = header["message"].as_str().expect("every question has a name").to_owned();
        let after_message = |error| match error {
            EngineError::ProgramFailed { program, message } => {
                EngineError::ProgramFailed { program, message: format!("after the message `{name}`, {message}") }
            }
            other => other,
        };
        self.program.send(Message { header, payload }).map_err(after_message)?;
        let sent = self.clock.now_seconds();
        let Message { header, payload } = self.program.receive().await.map_err(after_message)?;
        let seconds = self.clock.now_seconds() - sent;
        let answer = Answer { program: self.name, message: name, header, payload, seconds };
        if answer.header.get("error").is_none() {
            return Ok(answer);
        }
        let message = short(&answer.field::<String>("error")?);
        Err(match answer.optional("cause")?.unwrap_or_default() {
            Cause::Unsupported => EngineError::ProgramLacks { program: self.name.to_owned(), message },
            Cause::OutOfMemory => EngineError::OutOfMemory { message },
            Cause::Failed => EngineError::DeviceRefused { message },
        })
    }
}

/// Checks a name for tables and records: lowercase letters, digits and hyphens, and not the name of our backends.
pub fn checked_name(text: &str) -> Result<String, String> {
    let is_fine = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    if text.is_empty() || text.len() > 40 || !text.chars().all(is_fine) {
        return Err("the name of a program must have 1 to 40 lowercase letters, digits and hyphens".to_owned());
    }
    if text == "all" || KNOWN_BACKENDS.iter().any(|known| known.name == text) {
        return Err(format!("`{text}` is a built-in backend; choose another name for the program"));
    }
    Ok(text.to_owned())
}

/// Version of the protocol in `docs/EXTERNAL.md`.
pub const PROTOCOL_VERSION: u32 = 1;
/// Maximum length of a program's names and messages.
const MAX_TEXT_LENGTH: usize = 100;
/// Three years. A longer time is in the wrong unit.
const MAX_SECONDS: f64 = 1e8;

/// Message to a program. `Forget`, which discards a network, has no answer.
#[derive(Serialize)]
#[serde(tag = "message", rename_all = "snake_case")]
enum Question<'a> {
    Hello { protocol: u32 },
    Build(Build<'a>),
    Train { network: u32, steps: Vec<StepToTrain> },
    Evaluate { network: u32, rows: Vec<u32> },
    Weights { network: u32 },
    Gradients { network: u32 },
    Logits { network: u32, rows: u32 },
    Forget { network: u32 },
}

/// Network with its training recipe, followed by the initial weights.
#[derive(Serialize)]
struct Build<'a> {
    network: u32,
    model: &'a Model,
    /// Output shape of each node for one sample.
    shapes: Vec<Shape>,
    tensors: &'a [TensorSpec],
    loss: Loss,
    optimizer: &'a Optimizer,
    classes: u32,
    /// Answers for a sample: one, or one for each character of a window.
    positions: u32,
    /// Sizes of training batches, full batch first, so that a program can prepare for them.
    batch_sizes: Vec<u32>,
    test_batch_sizes: Vec<u32>,
    /// Active dropout layers. Every training batch has a mask for each.
    dropouts: &'a [DropoutPlace],
    #[serde(skip_serializing_if = "Option::is_none")]
    layout: Option<Layout>,
}

impl Question<'_> {
    fn header(&self) -> Value {
        serde_json::to_value(self).expect("questions are plain data")
    }
}

/// Node of a dropout layer and its number of values per sample.
#[derive(Serialize)]
struct DropoutPlace {
    node: usize,
    features: u32,
    #[serde(skip)]
    rate: f32,
}

#[derive(Serialize)]
struct StepToTrain {
    step: u64,
    rows: u32,
    /// Learning rate of the schedule.
    scheduled_rate: f64,
    /// Scheduled rate with the optimizer's correction for this step (Adam).
    learning_rate: f64,
}

/// Answer of a program. Fields are parsed individually, so that an error can name the field.
struct Answer {
    program: &'static str,
    message: String,
    header: Value,
    payload: Vec<u8>,
    /// Time from the end of the message's transfer to the answer.
    seconds: f64,
}

impl Answer {
    fn field<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        let value = self.header.get(name).ok_or_else(|| self.wrong(name, "is missing"))?;
        T::deserialize(value)
            .map_err(|error| self.wrong(name, &format!("cannot be read: {}", short(&error.to_string()))))
    }

    fn optional<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        match self.header.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(_) => self.field(name).map(Some),
        }
    }

    fn time(&self, name: &str) -> Result<Option<f64>> {
        let seconds: Option<f64> = self.optional(name)?;
        match seconds.filter(|seconds| !(0.0..MAX_SECONDS).contains(seconds)) {
            None => Ok(seconds),
            Some(wrong) => Err(self.wrong(name, &format!("is {wrong}, but must be a number of seconds"))),
        }
    }

    /// Parses the number of correct answers out of `labels`.
    fn correct(&self, labels: u64) -> Result<u64> {
        match self.field("correct")? {
            correct if correct <= labels => Ok(correct),
            wrong => Err(self.wrong("correct", &format!("is {wrong}, but the message has {labels} labels"))),
        }
    }

    /// Parses the loss of step `step`, or of a test before it. Null represents NaN and infinity, which cannot occur
    /// before the first update.
    fn loss(&self, name: &str, value: &Value, step: u64) -> Result<f64> {
        if value.is_null() && step > 0 {
            return Ok(f64::NAN);
        }
        value.as_f64().ok_or_else(|| {
            let value = short(&value.to_string());
            self.wrong(name, &format!("is {value} at step {step}, but must be a finite number"))
        })
    }

    fn numbers(&self, count: usize) -> Result<Vec<f32>> {
        let bytes = self.payload.len();
        if bytes != 4 * count {
            return Err(self.wrong("bytes", &format!("is {bytes}, but {count} numbers of four bytes are expected")));
        }
        Ok(self.payload.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }

    fn wrong(&self, field: &str, what: &str) -> EngineError {
        self.broken(&format!("the field `{field}` of its answer {what}"))
    }

    fn broken(&self, what: &str) -> EngineError {
        let message = format!("after the message `{}`, {what}", self.message);
        EngineError::ProgramFailed { program: self.program.to_owned(), message }
    }
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Cause {
    Unsupported,
    OutOfMemory,
    #[default]
    Failed,
}

/// Removes control characters and truncates.
fn short(text: &str) -> String {
    let words: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    words.trim().chars().take(MAX_TEXT_LENGTH).collect()
}

/// Maximum relative difference between reported time and the clock.
const TOLERANCE: f64 = 0.1;
/// Maximum time that scheduling on a busy machine may add to each answer.
const MAX_SECONDS_PER_ANSWER: f64 = 0.005;
/// Maximum time of a single pause that a program's clock excludes, such as while the system writes to a slow disk.
const MAX_PAUSE_SECONDS: f64 = 0.5;

/// Sums over the answers to `train`, or to `evaluate`, of one network.
#[derive(Default)]
struct AnswerTimes {
    answers: f64,
    /// Time reported by the program for the work, and for its preparation.
    reported_seconds: f64,
    preparing_seconds: f64,
    /// Time until the answers by our clock, and the link's part of it.
    clock_seconds: f64,
    link_seconds: f64,
}

impl AnswerTimes {
    /// Adds an answer and returns the time that it reports for its work.
    fn add(&mut self, answer: &Answer, link_seconds: f64) -> Result<f64> {
        let reported = answer.time("seconds")?.filter(|&seconds| seconds > 0.0);
        let reported = reported.ok_or_else(|| answer.wrong("seconds", "must be a number above 0"))?;
        self.answers += 1.0;
        self.reported_seconds += reported;
        self.preparing_seconds += answer.time("preparing_seconds")?.unwrap_or(0.0);
        self.clock_seconds += answer.seconds;
        self.link_seconds += link_seconds.min(answer.seconds);

        let (work, clock) = (self.reported_seconds, self.clock_seconds);
        let (total, computing) = (work + self.preparing_seconds, clock - self.link_seconds - self.preparing_seconds);
        let broken = |total: f64, clock: f64, what: &str| {
            let times = format!("report {total:.3} s in total, but the clock shows {clock:.3} s around them");
            Err(answer.broken(&format!("its answers {times}{what}")))
        };
        if exceeds(total, clock, self.answers) {
            return broken(total, clock, ": it may not report seconds, or may count work twice");
        }
        if exceeds(computing, work, self.answers) {
            let what = " without the link: it probably reads its clock without waiting for asynchronous work";
            return broken(work, computing, what);
        }
        Ok(reported)
    }
}

/// Returns true if `seconds` exceeds `other` by more than this number of answers can explain.
fn exceeds(seconds: f64, other: f64, answers: f64) -> bool {
    seconds > (1.0 + TOLERANCE) * other + MAX_SECONDS_PER_ANSWER * answers + MAX_PAUSE_SECONDS
}

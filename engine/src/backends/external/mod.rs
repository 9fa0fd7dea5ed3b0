//! A program of any framework as a back end: it gets the layers, the start values, the batches and the masks of dropout,
//! and answers with losses and what else a check asks for. `docs/EXTERNAL.md` is the protocol.
//!
//! The engine starts no programs: whoever does implements [`Program`].

mod feed;
mod messages;
mod timing;
mod trainer;

use std::cell::Cell;
use std::rc::Rc;

use async_trait::async_trait;
use results::{Adapter, DeviceKind, Layout, Precision};
use serde_json::Value;

use super::KNOWN_BACKENDS;
use crate::clock::Clock;
use crate::error::EngineError;
use crate::trainer::{Backend, Trainer, TrainingJob};
pub use messages::PROTOCOL_VERSION;
use messages::{Answer, Cause, Question};
use trainer::ExternalTrainer;

/// A program that answers one message after the other.
#[async_trait(?Send)]
pub trait Program {
    /// Sends a message, and returns when the link has taken it.
    ///
    /// # Errors
    /// A program that has ended.
    fn send(&self, message: Message) -> Result<(), EngineError>;

    /// Waits for the answer to the message that was sent last.
    ///
    /// # Errors
    /// A program that has ended, or that does not answer as it should.
    async fn receive(&self) -> Result<Message, EngineError>;
}

/// An object of JSON, and bytes that follow it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Message {
    pub header: Value,
    pub payload: Vec<u8>,
}

/// A program that has introduced itself.
pub struct ExternalBackend {
    conversation: Conversation,
    adapter: Adapter,
    /// How images were asked to lie.
    layout: Option<Layout>,
    /// How many networks it was given so far.
    networks: Cell<u32>,
}

impl ExternalBackend {
    /// Asks a program who it is. It is called `name`, which [`checked_name`] has checked, and timed by `clock`.
    ///
    /// # Errors
    /// One that speaks another version of the protocol, or none, and any precision but f32.
    pub async fn meet(
        name: &'static str,
        program: Rc<dyn Program>,
        clock: Rc<dyn Clock>,
        precision: Precision,
        layout: Option<Layout>,
    ) -> Result<Self, EngineError> {
        if precision != Precision::F32 {
            return Err(EngineError::NoPrecision {
                whose: format!("the external program `{name}`"),
                precision: precision.name(),
                reason: "the protocol has no other numbers".to_owned(),
                instead: "f32",
            });
        }
        let conversation = Conversation { name, program, clock };
        let answer = conversation.ask(&Question::Hello { protocol: PROTOCOL_VERSION }, Vec::new()).await?;
        let theirs: u32 = answer.field("protocol")?;
        if theirs != PROTOCOL_VERSION {
            return Err(answer.wrong("protocol", &format!("is {theirs}, and must be {PROTOCOL_VERSION}")));
        }
        let text = |field: &str| answer.field::<String>(field).map(|text| messages::short(&text));
        let adapter = Adapter {
            name: text("device")?,
            vendor: String::new(),
            architecture: String::new(),
            kind: answer.optional("device_kind")?.unwrap_or(DeviceKind::Unknown),
            api: text("framework")?,
            driver: text("version")?,
            software: false,
        };
        Ok(Self { conversation, adapter, layout, networks: Cell::new(0) })
    }
}

#[async_trait(?Send)]
impl Backend for ExternalBackend {
    fn name(&self) -> &'static str {
        self.conversation.name
    }

    fn adapter(&self) -> &Adapter {
        &self.adapter
    }

    fn precision(&self) -> Precision {
        Precision::F32
    }

    fn non_standard(&self) -> Vec<String> {
        let program = format!("trained by the external program {}", self.conversation.name);
        let layout = self.layout.map(|layout| format!("layout {}", layout.name()));
        [program].into_iter().chain(layout).collect()
    }

    async fn build(&self, job: &TrainingJob) -> Result<Box<dyn Trainer>, EngineError> {
        let network = self.networks.get();
        self.networks.set(network.wrapping_add(1));
        Ok(Box::new(ExternalTrainer::new(self.conversation.clone(), network, self.layout, job).await?))
    }
}

/// Questions to a program, and its answers.
#[derive(Clone)]
struct Conversation {
    name: &'static str,
    program: Rc<dyn Program>,
    clock: Rc<dyn Clock>,
}

impl Conversation {
    /// # Errors
    /// A refusal, and a program that has ended or that speaks another protocol.
    async fn ask(&self, question: &Question<'_>, payload: Vec<u8>) -> Result<Answer, EngineError> {
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
        let message = messages::short(&answer.field::<String>("error")?);
        Err(match answer.optional("cause")?.unwrap_or_default() {
            Cause::Unsupported => EngineError::ProgramLacks { program: self.name.to_owned(), message },
            Cause::OutOfMemory => EngineError::OutOfMemory { message },
            Cause::Failed => EngineError::DeviceRefused { message },
        })
    }
}

/// A name for tables and records: lower-case letters, digits and hyphens.
///
/// # Errors
/// Another one, and one of our own back ends'.
pub fn checked_name(text: &str) -> Result<String, String> {
    let is_fine = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    if text.is_empty() || text.len() > 40 || !text.chars().all(is_fine) {
        return Err("the name of a program has 1 to 40 lower-case letters, digits and hyphens".to_owned());
    }
    if text == "all" || KNOWN_BACKENDS.iter().any(|known| known.name == text) {
        return Err(format!("`{text}` is one of our own back ends: a program needs another name"));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests;

//! A program of any framework as a back end: it gets the layers, the start values, the batches and the masks of dropout,
//! and answers with losses and what else a check asks for. `docs/EXTERNAL.md` is the protocol.
//!
//! The engine starts no programs: whoever does implements [`Program`].

mod feed;
mod messages;
mod trainer;

use std::cell::Cell;
use std::rc::Rc;

use async_trait::async_trait;
use results::{Adapter, DeviceKind, Layout, Precision};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::KNOWN_BACKENDS;
use crate::error::EngineError;
use crate::trainer::{Backend, Trainer, TrainingJob};
pub use messages::PROTOCOL_VERSION;
use messages::{Cause, Introduction, Question, Refusal};
use trainer::ExternalTrainer;

/// A program that answers one message after the other.
#[async_trait(?Send)]
pub trait Program {
    /// Sends a message and waits for its answer.
    ///
    /// # Errors
    /// A program that has ended, or that does not answer as it should.
    async fn ask(&self, message: Message) -> Result<Message, EngineError>;

    /// Sends a message that nobody answers, as far as that is possible.
    fn tell(&self, message: Message);
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
    /// Asks a program who it is. It is called `name`, which [`checked_name`] has checked.
    ///
    /// # Errors
    /// One that speaks another version of the protocol, or none, and any precision but f32.
    pub async fn meet(
        name: &'static str,
        program: Rc<dyn Program>,
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
        let conversation = Conversation { name, program };
        let told: Introduction =
            conversation.ask_for(&Question::Hello { protocol: PROTOCOL_VERSION }, Vec::new()).await?;
        if told.protocol != PROTOCOL_VERSION {
            let theirs = told.protocol;
            return Err(
                conversation.failed(format!("it speaks version {theirs} of the protocol, not {PROTOCOL_VERSION}"))
            );
        }
        let adapter = Adapter {
            name: messages::short(&told.device),
            vendor: String::new(),
            architecture: String::new(),
            kind: told.device_kind.unwrap_or(DeviceKind::Unknown),
            api: messages::short(&told.framework),
            driver: messages::short(&told.version),
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
}

impl Conversation {
    /// # Errors
    /// A refusal, and a program that has ended or that speaks another protocol.
    async fn ask(&self, question: &Question<'_>, payload: Vec<u8>) -> Result<Message, EngineError> {
        let answer = self.program.ask(Message { header: question.header(), payload }).await?;
        if answer.header.get("error").is_none() {
            return Ok(answer);
        }
        let Refusal { error, cause } = self.read(answer.header)?;
        let (program, message) = (self.name.to_owned(), messages::short(&error));
        Err(match cause {
            Cause::Unsupported => EngineError::ProgramLacks { program, message },
            Cause::OutOfMemory => EngineError::OutOfMemory { message },
            Cause::Failed => EngineError::DeviceRefused { message },
        })
    }

    /// As [`Self::ask`], where the answer has no payload.
    async fn ask_for<T: DeserializeOwned>(&self, question: &Question<'_>, payload: Vec<u8>) -> Result<T, EngineError> {
        let answer = self.ask(question, payload).await?;
        self.read(answer.header)
    }

    fn tell(&self, question: &Question<'_>) {
        self.program.tell(Message { header: question.header(), payload: Vec::new() });
    }

    fn read<T: DeserializeOwned>(&self, header: Value) -> Result<T, EngineError> {
        serde_json::from_value(header)
            .map_err(|error| self.failed(format!("its answer is not one of the protocol: {error}")))
    }

    /// It broke the protocol.
    fn failed(&self, message: String) -> EngineError {
        EngineError::ProgramFailed { program: self.name.to_owned(), message }
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

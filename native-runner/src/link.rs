//! The links to devices that are served elsewhere.
//!
//! When a server ends, its connections are closed and burn-remote's next read fails, though under load not at once. A
//! server that hangs and a network that swallows everything close nothing: inside Burn's calls, which cannot be given
//! up, a program waits for them for ever. So a thread of its own makes these calls, the server is asked for signs of
//! life meanwhile, and when it has given none for too long the thread is left behind and the caller gets an error. A
//! lost server costs what was trained on it, and nothing else. Of several servers that share each batch the loss of one ends
//! the training, and the error says which it was.

mod caller;
mod losses;
mod watch;

use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;
use engine::{
    Backend, EngineError, EvaluationSet, Preparation, StepReport, TestReport, Trainer, TrainerFacts, TrainingJob,
};
use results::{Adapter, Precision, Warning};

use caller::Caller;
use watch::Watch;

/// Opens the back end that computes at these addresses, in a thread of its own, where it stays.
///
/// # Errors
/// Of the first address for which there is one: no such host, nobody who listens there, and somebody who does not answer; and
/// the errors of `open`.
pub(crate) fn open(
    addresses: &[String],
    timeout_seconds: f64,
    open: impl FnOnce() -> Result<Box<dyn Backend>, EngineError> + Send + 'static,
) -> Result<Box<dyn Backend>, EngineError> {
    let timeout = Duration::from_secs_f64(timeout_seconds);
    let watches = addresses.iter().map(|address| Watch::begin(address, timeout)).collect::<Result<Vec<_>, _>>()?;
    let caller = Caller::start(watches, || open().map(|backend| Held { backend, trainers: Vec::new() }))?;
    let facts = caller.call(|Held { backend, .. }| Ok(Facts::of(backend.as_ref())))?;
    Ok(Box::new(Linked { caller: Rc::new(caller), facts }))
}

/// What a back end reported when it was opened.
struct Facts {
    name: &'static str,
    adapter: Adapter,
    devices: u32,
    precision: Precision,
    warnings: Vec<Warning>,
    non_standard: Vec<String>,
}

impl Facts {
    fn of(backend: &dyn Backend) -> Self {
        Self {
            name: backend.name(),
            adapter: backend.adapter().clone(),
            devices: backend.devices(),
            precision: backend.precision(),
            warnings: backend.warnings(),
            non_standard: backend.non_standard(),
        }
    }
}

/// What stays in the thread that calls the server.
struct Held {
    backend: Box<dyn Backend>,
    /// In the order in which they were built, and absent once dropped.
    trainers: Vec<Option<Box<dyn Trainer>>>,
}

/// A back end that computes through links.
struct Linked {
    caller: Rc<Caller<Held>>,
    facts: Facts,
}

#[async_trait(?Send)]
impl Backend for Linked {
    fn name(&self) -> &'static str {
        self.facts.name
    }

    fn adapter(&self) -> &Adapter {
        &self.facts.adapter
    }

    fn devices(&self) -> u32 {
        self.facts.devices
    }

    fn precision(&self) -> Precision {
        self.facts.precision
    }

    fn warnings(&self) -> Vec<Warning> {
        self.facts.warnings.clone()
    }

    fn non_standard(&self) -> Vec<String> {
        self.facts.non_standard.clone()
    }

    fn predicted_bytes(&self, job: &TrainingJob) -> Result<Option<u64>, EngineError> {
        let job = job.clone();
        self.caller.call(move |held| held.backend.predicted_bytes(&job))
    }

    async fn recover(&self) -> Result<(), EngineError> {
        self.caller.call(|held| pollster::block_on(held.backend.recover()))
    }

    async fn build(&self, job: &TrainingJob) -> Result<Box<dyn Trainer>, EngineError> {
        let job = job.clone();
        let (number, facts) = self.caller.call(move |held| {
            let trainer = pollster::block_on(held.backend.build(&job))?;
            let facts = TrainerFacts::of(trainer.as_ref());
            held.trainers.push(Some(trainer));
            Ok((held.trainers.len() - 1, facts))
        })?;
        Ok(Box::new(LinkedTrainer { caller: Rc::clone(&self.caller), number, facts }))
    }
}

/// A trainer in the thread that calls the server.
struct LinkedTrainer {
    caller: Rc<Caller<Held>>,
    number: usize,
    facts: TrainerFacts,
}

impl LinkedTrainer {
    fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn Trainer) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, EngineError> {
        let number = self.number;
        self.caller.call(move |held| work(held.trainers[number].as_deref_mut().expect("only dropping takes it away")))
    }
}

#[async_trait(?Send)]
impl Trainer for LinkedTrainer {
    async fn train_steps(&mut self, steps: u32) -> Result<StepReport, EngineError> {
        self.call(move |trainer| pollster::block_on(trainer.train_steps(steps)))
    }

    async fn evaluate(&mut self, set: EvaluationSet, samples: u32) -> Result<TestReport, EngineError> {
        self.call(move |trainer| pollster::block_on(trainer.evaluate(set, samples)))
    }

    async fn weights(&mut self) -> Result<Vec<Vec<f32>>, EngineError> {
        self.call(|trainer| pollster::block_on(trainer.weights()))
    }

    async fn gradients(&mut self) -> Result<Vec<Vec<f32>>, EngineError> {
        self.call(|trainer| pollster::block_on(trainer.gradients()))
    }

    async fn logits(&mut self, rows: u32) -> Result<Vec<Vec<f64>>, EngineError> {
        self.call(move |trainer| pollster::block_on(trainer.logits(rows)))
    }

    fn preparation(&self) -> Preparation {
        self.facts.preparation
    }

    fn device_memory_bytes(&self) -> u64 {
        self.facts.device_memory_bytes
    }

    fn variants(&self) -> Vec<String> {
        self.facts.variants.clone()
    }
}

impl Drop for LinkedTrainer {
    /// Burn frees its tensors, or notes that they are to be freed, before whatever comes next is timed.
    fn drop(&mut self) {
        let number = self.number;
        // A lost server has nothing to be given.
        let _ = self.caller.call(move |held| {
            held.trainers[number] = None;
            Ok(())
        });
    }
}

//! The best networks of the finished run, in the worker that trained them: one classifies drawings, another continues
//! texts.

use std::time::Duration;

use leptos::prelude::*;
use training_worker::{FromWorker, ToWorker};

use crate::live::{TrainedNetwork, TrainedWriter};
use crate::platform::TrainingWorker;

#[derive(Clone, Copy, Default)]
pub(crate) struct TrainedNetworks {
    /// The network for images, while its worker is alive.
    pub(crate) network: RwSignal<Option<TrainedNetwork>>,
    pub(crate) answer: RwSignal<Option<ClassifiedImage>>,
    /// The language model, while its worker is alive.
    pub(crate) writer: RwSignal<Option<TrainedWriter>>,
    /// Its last text.
    pub(crate) text: RwSignal<Option<WrittenText>>,
    worker: StoredValue<Option<TrainingWorker>, LocalStorage>,
    /// Image that the worker is classifying.
    pending: StoredValue<Option<Vec<u8>>>,
    /// Number of continuations, which is the seed of the next one.
    continuations: StoredValue<u32>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ClassifiedImage {
    pub(crate) image: Vec<u8>,
    /// One per class.
    pub(crate) probabilities: Vec<f64>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WrittenText {
    pub(crate) beginning: String,
    /// The text written so far after the beginning.
    pub(crate) continuation: String,
    pub(crate) is_finished: bool,
}

impl TrainedNetworks {
    /// Keeps the worker of a finished run, or drops it if there is no network to try.
    pub(crate) fn keep(
        self,
        worker: Option<TrainingWorker>,
        network: Option<TrainedNetwork>,
        writer: Option<TrainedWriter>,
    ) {
        self.worker.set_value(worker);
        if network.is_none() && writer.is_none() {
            return self.release();
        }
        self.network.set(network);
        self.text.set(writer.as_ref().map(|writer| WrittenText {
            beginning: engine::Writer::PROMPT.to_owned(),
            continuation: writer.text.clone(),
            is_finished: true,
        }));
        self.writer.set(writer);
    }

    pub(crate) fn release(self) {
        self.network.set(None);
        self.answer.set(None);
        self.writer.set(None);
        self.text.set(None);
        self.pending.set_value(None);
        let worker = self.worker.try_update_value(Option::take).flatten();
        // A callback of the worker may be running, so drop the worker after it has returned.
        set_timeout(move || drop(worker), Duration::ZERO);
    }

    /// Classifies an image, unless the network is busy. The result arrives in `answer`.
    pub(crate) fn classify(self, image: Vec<u8>) {
        if self.pending.with_value(Option::is_some) {
            return;
        }
        let workload = self.network.with_untracked(|network| network.as_ref().map(|network| network.workload.clone()));
        self.worker.with_value(|worker| {
            if let Some((worker, workload)) = worker.as_ref().zip(workload) {
                worker.send(&ToWorker::Classify { workload, image: image.clone() });
                self.pending.set_value(Some(image));
            }
        });
    }

    pub(crate) fn is_writing(self) -> bool {
        self.text.with(|text| text.as_ref().is_some_and(|text| !text.is_finished))
    }

    /// Continues a text, unless the language model is busy. The continuation arrives in `text`.
    pub(crate) fn continue_text(self, beginning: String, temperature: f64) {
        if untrack(|| self.is_writing()) {
            return;
        }
        let workload = self.writer.with_untracked(|writer| writer.as_ref().map(|writer| writer.workload.clone()));
        self.worker.with_value(|worker| {
            if let Some((worker, workload)) = worker.as_ref().zip(workload) {
                let seed = self.continuations.get_value();
                self.continuations.set_value(seed + 1);
                worker.send(&ToWorker::Continue { workload, beginning: beginning.clone(), temperature, seed });
                let continuation = String::new();
                self.text.set(Some(WrittenText { beginning, continuation, is_finished: false }));
            }
        });
    }

    pub(crate) fn receive(self, message: FromWorker) {
        match message {
            FromWorker::Classified(probabilities) => {
                let image = self.pending.try_update_value(Option::take).flatten();
                self.answer.set(image.map(|image| ClassifiedImage { image, probabilities }));
            }
            FromWorker::Continued { text, is_finished } => self.text.update(|written| {
                if let Some(written) = written {
                    (written.continuation, written.is_finished) = (text, is_finished);
                }
            }),
            FromWorker::Crashed(_) => self.release(),
            _ => {}
        }
    }
}

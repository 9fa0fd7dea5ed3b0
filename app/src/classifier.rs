//! The best network of a finished run. It classifies images in the worker that trained it.

use std::time::Duration;

use leptos::prelude::*;
use training_worker::FromWorker;

use crate::live::Trained;
use crate::platform::TrainingWorker;

#[derive(Clone, Copy)]
pub(crate) struct Classifier {
    /// The network, while its worker lives.
    pub(crate) network: RwSignal<Option<Trained>>,
    /// Its last answer.
    pub(crate) answer: RwSignal<Option<Answer>>,
    worker: StoredValue<Option<TrainingWorker>, LocalStorage>,
    /// Image that the worker is classifying.
    asked: StoredValue<Option<Vec<u8>>>,
}

/// A network's answer to an image.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) image: Vec<u8>,
    /// Of each class.
    pub(crate) probabilities: Vec<f64>,
}

impl Classifier {
    pub(crate) fn new() -> Self {
        Self {
            network: RwSignal::new(None),
            answer: RwSignal::new(None),
            worker: StoredValue::new_local(None),
            asked: StoredValue::new(None),
        }
    }

    /// Keeps the worker of a run that has ended, if there is a network to ask.
    pub(crate) fn keep(self, worker: Option<TrainingWorker>, network: Option<Trained>) {
        self.worker.set_value(worker);
        match network {
            Some(network) => self.network.set(Some(network)),
            None => self.release(),
        }
    }

    pub(crate) fn release(self) {
        self.network.set(None);
        self.answer.set(None);
        self.asked.set_value(None);
        let worker = self.worker.try_update_value(Option::take).flatten();
        // The worker's own callback may be running, so it is dropped after it has returned.
        set_timeout(move || drop(worker), Duration::ZERO);
    }

    /// Asks the network about an image, unless it is busy. It then changes `answer`.
    pub(crate) fn classify(self, image: Vec<u8>) {
        if self.asked.with_value(Option::is_some) {
            return;
        }
        let workload = self.network.with_untracked(|network| network.as_ref().map(|network| network.workload.clone()));
        self.worker.with_value(|worker| {
            if let Some((worker, workload)) = worker.as_ref().zip(workload) {
                worker.classify(workload, image.clone());
                self.asked.set_value(Some(image));
            }
        });
    }

    /// Receives a message of the worker.
    pub(crate) fn receive(self, message: FromWorker) {
        match message {
            FromWorker::Classified(probabilities) => {
                let image = self.asked.try_update_value(Option::take).flatten();
                self.answer.set(image.map(|image| Answer { image, probabilities }));
            }
            FromWorker::Crashed(_) => self.release(),
            _ => {}
        }
    }
}

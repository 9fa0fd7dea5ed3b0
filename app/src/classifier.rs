//! Classification of drawings by the best network of the finished run, in the worker that trained it.

use std::time::Duration;

use leptos::prelude::*;
use training_worker::{FromWorker, ToWorker};

use crate::live::TrainedNetwork;
use crate::platform::TrainingWorker;

#[derive(Clone, Copy, Default)]
pub(crate) struct DrawingClassifier {
    /// The network, while its worker is alive.
    pub(crate) network: RwSignal<Option<TrainedNetwork>>,
    pub(crate) answer: RwSignal<Option<ClassifiedImage>>,
    worker: StoredValue<Option<TrainingWorker>, LocalStorage>,
    /// Image that the worker is classifying.
    pending: StoredValue<Option<Vec<u8>>>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ClassifiedImage {
    pub(crate) image: Vec<u8>,
    /// One per class.
    pub(crate) probabilities: Vec<f64>,
}

impl DrawingClassifier {
    /// Keeps the worker of a finished run, or drops it if there is no network to try.
    pub(crate) fn keep(self, worker: Option<TrainingWorker>, network: Option<TrainedNetwork>) {
        self.worker.set_value(worker);
        match network {
            Some(network) => self.network.set(Some(network)),
            None => self.release(),
        }
    }

    pub(crate) fn release(self) {
        self.network.set(None);
        self.answer.set(None);
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

    pub(crate) fn receive(self, message: FromWorker) {
        match message {
            FromWorker::Classified(probabilities) => {
                let image = self.pending.try_update_value(Option::take).flatten();
                self.answer.set(image.map(|image| ClassifiedImage { image, probabilities }));
            }
            FromWorker::Crashed(_) => self.release(),
            _ => {}
        }
    }
}

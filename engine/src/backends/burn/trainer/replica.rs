//! Training on one of several devices that share each batch. Each batch normalization splits the step, forward and
//! backward, so that the devices can exchange results.

use burn_tensor::{Gradients, Tensor};
use shaders::params::Step;

use super::{BurnTrainer, Pending};
use crate::backends::burn::network::shared_normalization::{Arrived, Normalized, Returned};
use crate::backends::burn::network::{Made, Tape, add_gradients};

/// State of a step on this device's share of a batch.
pub(crate) struct Passage {
    step: Step,
    labels: Vec<u32>,
    made: Made,
    /// Batch normalization that ends the current graph.
    arrived: Option<Arrived>,
    /// Batch normalizations at the ends of the completed graphs.
    normalized: Vec<Normalized>,
    /// Gradients of the leaves of the last differentiated graph; `None` if nothing in it is trained.
    gradients: Option<Gradients>,
    /// Batch normalization that adds a root to the previous graph.
    returned: Option<Returned>,
    found: Vec<Option<Tensor<1>>>,
    /// Logits and results, once the share has been judged.
    outcome: Option<(Tensor<2>, Pending)>,
}

impl BurnTrainer {
    pub(crate) fn begin_share(&mut self, share: Step) -> Passage {
        let (input, labels) = self.training_batch(&share);
        Passage {
            made: self.network.begin(&share, input),
            step: share,
            labels,
            arrived: None,
            normalized: Vec::new(),
            gradients: None,
            returned: None,
            found: vec![None; self.trained.len()],
            outcome: None,
        }
    }

    /// Computes the layers up to a batch normalization and returns the statistics of the share.
    pub(crate) fn arrive(&self, passage: &mut Passage, layer: usize) -> Tensor<1> {
        let (arrived, statistics) = self.network.arrive(&mut passage.made, self.pass(&passage.step), layer);
        passage.arrived = Some(arrived);
        statistics
    }

    /// Normalizes by the statistics of all `samples` samples of the batch.
    pub(crate) fn normalize(&self, passage: &mut Passage, statistics: Tensor<1>, samples: u32) {
        let Passage { step, made, normalized, arrived, .. } = passage;
        let arrived = arrived.take().expect("it has arrived at a batch normalisation");
        normalized.push(self.network.normalize(arrived, made, &self.pass(step), statistics, samples));
    }

    /// Computes the loss of the share, as its part of the mean over all `samples` samples of the batch, and
    /// differentiates the last graph.
    pub(crate) fn turn(&self, passage: &mut Passage, samples: u32) {
        let Passage { step, labels, made, gradients, found, outcome, .. } = passage;
        let mut pass = self.pass(step);
        let logits = self.network.finish(made, &mut pass);
        let (mut graph, pending) = self.differentiate(logits.clone(), labels, samples, step.count);
        let Tape { leaves, .. } = pass;
        add_gradients(leaves.read, &mut graph, found);
        *gradients = Some(graph);
        *outcome = Some((logits.inner(), pending));
    }

    /// Returns to the previous batch normalization and computes the sums of its gradients.
    pub(crate) fn come_back(&self, passage: &mut Passage) -> Tensor<1> {
        let Passage { normalized, gradients, returned, found, .. } = passage;
        let last = normalized.pop().expect("it has come through it");
        let (at_layer, sums) = self.network.come_back(last, gradients, &self.trained, found);
        *returned = Some(at_layer);
        sums
    }

    /// Differentiates the preceding graph with the sums of all devices.
    pub(crate) fn go_back(&self, passage: &mut Passage, sums: Tensor<1>) {
        let returned = passage.returned.take().expect("it has come back to a batch normalisation");
        let (leaves, root) = returned.root(sums);
        passage.gradients = root.map(|root| root.backward());
        if let Some(graph) = &mut passage.gradients {
            add_gradients(leaves, graph, &mut passage.found);
        }
    }

    /// Ends a step with the statistics of each batch normalization and the concatenated gradients of all devices. A
    /// device with an empty share has no passage.
    pub(crate) fn end_share(
        &mut self,
        passage: Option<Passage>,
        whole: &Step,
        statistics: impl Iterator<Item = (usize, Tensor<1>)>,
        found: &[bool],
        gradients: Tensor<1>,
    ) -> Pending {
        for (layer, statistics) in statistics {
            for (tensor, moved) in self.network.moved_averages(layer, &self.state.tensors, statistics, whole.count) {
                self.state.tensors[tensor] = moved;
            }
        }
        let mut from = 0;
        let gradient = |(tensor, found): (&Tensor<1>, &bool)| {
            found.then(|| {
                let begin = from;
                from += tensor.dims()[0];
                gradients.clone().narrow(0, begin, tensor.dims()[0])
            })
        };
        let gradients: Vec<Option<Tensor<1>>> = self.state.tensors.iter().zip(found).map(gradient).collect();
        self.state.update(&self.job, whole, &gradients);
        self.gradients = gradients;
        self.step += 1;
        let outcome = passage.and_then(|passage| passage.outcome);
        let (logits, pending) = outcome.unzip();
        self.logits = logits;
        pending.unwrap_or_else(|| {
            let nothing = || Tensor::zeros([1], &self.device);
            Pending { loss: nothing(), correct: nothing(), samples: 0 }
        })
    }
}

impl Passage {
    pub(crate) fn found(&self) -> Vec<bool> {
        self.found.iter().map(Option::is_some).collect()
    }

    pub(crate) fn gradients(&self) -> Tensor<1> {
        Tensor::cat(self.found.iter().flatten().cloned().collect(), 0)
    }
}

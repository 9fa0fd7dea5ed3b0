use burn_tensor::{Device, Tensor};
use shaders::params::Step;

use crate::error::Result;
use crate::model::{TensorKind, TensorSpec};
use crate::trainer::TrainingJob;
use crate::training::Rule;

/// Tensors of a model, updated by the rules of `reference/golden/README.md`. Burn's own optimizers use other constants.
#[derive(Clone)]
pub(super) struct TrainingState {
    specs: Vec<TensorSpec>,
    /// All tensors, flat, in Burn's layout.
    pub(super) tensors: Vec<Tensor<1>>,
    /// Velocities, means or mean squares; the second is used only by rules that need two.
    memories: Vec<[Tensor<1>; 2]>,
    shadow: Vec<Tensor<1>>,
}

impl TrainingState {
    pub(super) fn new(job: &TrainingJob, tensors: Vec<Tensor<1>>, device: &Device) -> Result<Self> {
        let specs = job.model.tensors()?;
        let wanted = job.optimizer.rule.states();
        let memory = |spec: &TensorSpec, place: usize| {
            let needed = spec.kind == TensorKind::Trained && place < wanted;
            Tensor::zeros([if needed { spec.elements() } else { 1 }], device)
        };
        let memories = specs.iter().map(|spec| [0, 1].map(|place| memory(spec, place))).collect();
        let shadow = if job.average.is_some() { tensors.clone() } else { Vec::new() };
        Ok(Self { specs, tensors, memories, shadow })
    }

    #[expect(clippy::cast_possible_truncation, reason = "computed in double and rounded once")]
    pub(super) fn update(&mut self, job: &TrainingJob, step: &Step, gradients: &[Option<Tensor<1>>]) {
        let clipped = job.optimizer.largest_gradient.map(|limit| clip_gradients(gradients, limit));
        let gradients = clipped.as_deref().unwrap_or(gradients);
        let list = self.specs.iter().zip(&mut self.memories).zip(gradients).zip(&mut self.tensors);
        for (((spec, memories), gradient), weights) in list {
            let Some(gradient) = gradient else { continue };
            if job.frozen_from(&spec.multipliers) <= step.step {
                continue;
            }
            let multiplier = spec.multipliers.learning_rate as f32;
            let weight_decay = (job.optimizer.weight_decay * spec.multipliers.weight_decay) as f32;
            let rates = [step.learning_rate * multiplier, step.decay_rate * multiplier, weight_decay];
            weights.inplace(|weights| apply(job.optimizer.rule, rates, gradient.clone(), weights, memories));
        }
        if step.average != 0 {
            for (weights, shadow) in self.tensors.iter_mut().zip(&mut self.shadow) {
                shadow.inplace(|shadow| follow(shadow, step.average_keep, weights.clone()));
                if step.average == 2 {
                    *weights = shadow.clone();
                }
            }
        }
    }

    /// Exchanges the tensors and their averages if tests use the averages.
    pub(super) fn swap_average(&mut self, job: &TrainingJob) {
        if job.average.is_some_and(|average| average.is_tested()) {
            std::mem::swap(&mut self.tensors, &mut self.shadow);
        }
    }

    /// Returns the tensors of each memory of a [`StateBytes`](results::StateBytes).
    pub(super) fn memories(&self, job: &TrainingJob) -> Vec<Vec<Tensor<1>>> {
        let memory = |place: usize| {
            let each = self.specs.iter().zip(&self.memories).zip(&self.tensors);
            let of_tensor = each.map(|((spec, memories), tensor)| match spec.kind {
                TensorKind::Trained => memories[place].clone(),
                _ => tensor.zeros_like(),
            });
            of_tensor.collect()
        };
        (0..job.optimizer.rule.states()).map(memory).chain(job.average.map(|_| self.shadow.clone())).collect()
    }

    /// Replaces the tensors and each memory.
    pub(super) fn restore(&mut self, job: &TrainingJob, mut lists: impl Iterator<Item = Vec<Tensor<1>>>) {
        self.tensors = lists.next().expect("a state has weights");
        for (place, memory) in (0..job.optimizer.rule.states()).zip(lists.by_ref()) {
            self.memories.iter_mut().zip(memory).for_each(|(memories, tensor)| memories[place] = tensor);
        }
        self.shadow = lists.next().unwrap_or_default();
    }

    /// Returns the size of all tensors in bytes, with gradients of those that are trained.
    pub(super) fn bytes(&self) -> u64 {
        let kept = self.tensors.iter().chain(self.memories.iter().flatten()).chain(&self.shadow);
        let trained = self.specs.iter().filter(|spec| spec.kind == TensorKind::Trained).map(TensorSpec::elements);
        (kept.map(|tensor| tensor.dims()[0]).chain(trained).sum::<usize>() * size_of::<f32>()) as u64
    }
}

/// Returns the updated weights. The rates are the learning rate, the rate of decoupled weight decay, and the weight decay,
/// in float32 as in our kernels.
#[expect(clippy::cast_possible_truncation, reason = "the device computes in float32")]
fn apply(
    rule: Rule,
    [rate, decay_rate, weight_decay]: [f32; 3],
    gradient: Tensor<1>,
    weights: Tensor<1>,
    [first, second]: &mut [Tensor<1>; 2],
) -> Tensor<1> {
    let decoupled = matches!(rule, Rule::Adam { decoupled: true, .. });
    let (gradient, weights) = match weight_decay {
        _ if decoupled => (gradient, weights.clone() - weights * (decay_rate * weight_decay)),
        0.0 => (gradient, weights),
        _ => (gradient + weights.clone() * weight_decay, weights),
    };
    match rule {
        Rule::Sgd { momentum } => {
            first.inplace(|velocity| update_velocity(velocity, momentum, gradient * rate));
            weights - first.clone()
        }
        Rule::Nesterov { momentum } => {
            first.inplace(|velocity| update_velocity(velocity, momentum, gradient.clone()));
            let ahead = if momentum == 0.0 { gradient } else { gradient + first.clone() * momentum as f32 };
            weights - ahead * rate
        }
        Rule::RmsProp { rho, epsilon } => {
            first.inplace(|mean| follow(mean, rho as f32, gradient.clone().square()));
            weights - gradient * rate / (first.clone().sqrt() + epsilon as f32)
        }
        Rule::Adadelta { rho, epsilon } => {
            let (rho, epsilon) = (rho as f32, epsilon as f32);
            first.inplace(|mean| follow(mean, rho, gradient.clone().square()));
            let change = gradient * (second.clone() + epsilon).sqrt() / (first.clone() + epsilon).sqrt();
            second.inplace(|mean| follow(mean, rho, change.clone().square()));
            weights - change * rate
        }
        Rule::Adam { beta1, beta2, epsilon, .. } => {
            first.inplace(|mean| follow(mean, beta1 as f32, gradient.clone()));
            second.inplace(|mean| follow(mean, beta2 as f32, gradient.square()));
            weights - first.clone() * rate / (second.clone().sqrt() + epsilon as f32)
        }
    }
}

/// Scales the gradients down if their joint norm exceeds `limit`.
#[expect(clippy::cast_possible_truncation, reason = "the device computes in float32")]
fn clip_gradients(gradients: &[Option<Tensor<1>>], limit: f64) -> Vec<Option<Tensor<1>>> {
    let squares = gradients.iter().flatten().map(|gradient| gradient.clone().square().sum());
    let Some(length) = squares.reduce(|a, b| a + b).map(Tensor::sqrt) else { return Vec::new() };
    let limit = limit as f32;
    let factor = length.clamp_min(limit).recip() * limit;
    gradients.iter().map(|gradient| gradient.clone().map(|gradient| gradient * factor.clone())).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "the device computes in float32")]
fn update_velocity(velocity: Tensor<1>, momentum: f64, push: Tensor<1>) -> Tensor<1> {
    if momentum == 0.0 { push } else { velocity * momentum as f32 + push }
}

fn follow(average: Tensor<1>, keep: f32, value: Tensor<1>) -> Tensor<1> {
    average * keep + value * (1.0 - keep)
}

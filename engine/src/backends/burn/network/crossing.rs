//! Where a pass is divided into graphs of their own, so that something can be done between the gradients of the one and those
//! of the other: a value that both have ends the one, and is a leaf of the other.

use burn_tensor::{Gradients, Tensor};

use super::{Made, Network};
use crate::backends::burn::value::Value;

/// A value that crosses from one graph into the next.
pub(in super::super) struct Crossing {
    /// In the graph that made it.
    end: Value,
    /// In the one that reads it.
    leaf: Value,
}

impl Network {
    /// Ends the graph: what it made and layers from the next one on will read begins another.
    pub(in super::super) fn cross(&self, made: &mut Made) -> Vec<Crossing> {
        let next = made.values.len();
        let mut crossings = Vec::new();
        for (value, layer) in made.values.iter_mut().zip(&self.layers) {
            if layer.last_reader < next || layer.last_reader == usize::MAX {
                *value = None;
            }
            let Some(end) = value.take_if(|value| value.is_tracked()) else { continue };
            let leaf = end.clone().leaf();
            *value = Some(leaf.clone());
            crossings.push(Crossing { end, leaf });
        }
        crossings
    }
}

impl Crossing {
    /// What the graph that made the value has to differentiate, so that its gradients are those of the loss: the value times
    /// its gradient in the graph that reads it, as a sum. Nothing where the loss does not depend on it.
    pub(in super::super) fn root(self, gradients: &mut Gradients) -> Option<Tensor<1>> {
        self.leaf.gradient(gradients).map(|gradient| self.end.dot(gradient))
    }
}

impl Value {
    /// Whether it follows from anything that is trained.
    pub(super) fn is_tracked(&self) -> bool {
        match self {
            Self::ChannelsFirst(tensor) => tensor.is_tracked(),
            Self::ChannelsLast(tensor) => tensor.is_tracked(),
            Self::Flat(tensor) => tensor.is_tracked(),
        }
    }

    /// The same numbers, from which a graph begins.
    pub(in super::super) fn leaf(self) -> Self {
        fn leaf<const D: usize>(tensor: Tensor<D>) -> Tensor<D> {
            tensor.inner().autodiff().require_grad()
        }
        match self {
            Self::ChannelsFirst(tensor) => Self::ChannelsFirst(leaf(tensor)),
            Self::ChannelsLast(tensor) => Self::ChannelsLast(leaf(tensor)),
            Self::Flat(tensor) => Self::Flat(leaf(tensor)),
        }
    }

    /// Of a leaf: what the graph found.
    pub(in super::super) fn gradient(self, gradients: &mut Gradients) -> Option<Self> {
        match self {
            Self::ChannelsFirst(tensor) => tensor.grad_remove(gradients).map(Self::ChannelsFirst),
            Self::ChannelsLast(tensor) => tensor.grad_remove(gradients).map(Self::ChannelsLast),
            Self::Flat(tensor) => tensor.grad_remove(gradients).map(Self::Flat),
        }
    }

    /// The sum of all products with numbers that lie in the same order.
    pub(in super::super) fn dot(self, others: Self) -> Tensor<1> {
        match (self, others) {
            (Self::ChannelsFirst(a), Self::ChannelsFirst(b)) => (a * b).sum(),
            (Self::ChannelsLast(a), Self::ChannelsLast(b)) => (a * b).sum(),
            (Self::Flat(a), Self::Flat(b)) => (a * b).sum(),
            _ => unreachable!("a gradient lies as its value does"),
        }
    }
}

//! What recurrent layers have in common.

use shaders::params::activation as activations;

use super::{Activation, Initializer, Layer};

/// What a recurrent layer computes at each step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    Lstm,
    /// With the activation of its candidates.
    Gru(Activation),
    SimpleRnn(Activation),
}

impl Cell {
    /// Blocks of as many numbers as there are units that a step makes from its input.
    pub(crate) fn gates(self) -> u32 {
        match self {
            Self::Lstm => 4,
            Self::Gru(_) => 3,
            Self::SimpleRnn(_) => 1,
        }
    }

    pub(crate) fn activation(self) -> Activation {
        match self {
            Self::Lstm => Activation::Tanh,
            Self::Gru(activation) | Self::SimpleRnn(activation) => activation,
        }
    }

    /// The number by which kernels know its activation.
    pub(crate) fn activation_number(self) -> u32 {
        if self.activation() == Activation::Relu { activations::RELU } else { activations::TANH }
    }

    /// Whether a bias of its own belongs to the products with the hidden state.
    pub(crate) fn has_recurrent_bias(self) -> bool {
        matches!(self, Self::Gru(_))
    }

    /// As tensors are called after it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Lstm => "lstm",
            Self::Gru(_) => "gru",
            Self::SimpleRnn(_) => "simple_rnn",
        }
    }
}

/// A layer that goes through sequences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RecurrentLayer {
    pub(crate) cell: Cell,
    pub(crate) units: u32,
    /// Start of the recurrent kernel.
    pub(crate) recurrent: Initializer,
}

impl Layer {
    /// What it is, if it goes through sequences.
    pub(crate) fn recurrent(&self) -> Option<RecurrentLayer> {
        let (cell, units, recurrent) = match *self {
            Self::Lstm { units, recurrent } => (Cell::Lstm, units, recurrent),
            Self::Gru { units, activation, recurrent } => (Cell::Gru(activation), units, recurrent),
            Self::SimpleRnn { units, activation, recurrent } => (Cell::SimpleRnn(activation), units, recurrent),
            _ => return None,
        };
        Some(RecurrentLayer { cell, units, recurrent })
    }

    /// Each row of its input is a sequence of its columns, of which it makes one state.
    pub fn is_recurrent(&self) -> bool {
        self.recurrent().is_some()
    }
}

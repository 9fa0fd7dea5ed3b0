use serde::Serialize;

/// How the weights of a tensor start.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Initializer {
    /// Uniform within ±√(6 / (fan in + fan out)): Glorot and Bengio (2010), equation 16.
    GlorotUniform,
    /// Uniform within ±√(scale / fan in): scale 3 is what Caffe calls "xavier", 1 is Torch's default.
    FanInUniform {
        scale: f64,
    },
    /// Uniform within ±limit.
    Uniform {
        limit: f64,
    },
    /// Normal with mean 0.
    Normal {
        deviation: f64,
    },
    /// Normal with variance `scale / fan in`; scale 2 is He et al. (2015).
    FanInNormal {
        scale: f64,
    },
    /// Normal with mean 0, drawn again beyond two deviations.
    TruncatedNormal {
        deviation: f64,
    },
    Constant {
        value: f64,
    },
    /// Rows of length 1 at right angles to each other: Saxe et al. (2013).
    Orthogonal,
    /// The first filters copy one input channel each; the others as `FanInUniform { scale: 1 }`.
    Dirac,
    /// Eigenvectors of the covariance of the training images' patches, and their negatives, scaled so that what
    /// they find has variance 1; the number is added to each eigenvalue. Fixed in training.
    WhitenedPatches {
        epsilon: f64,
    },
}

impl Initializer {
    /// Uniform numbers of the same deviation as the normal ones that it draws, or Glorot's.
    pub(crate) fn uniform_or_glorot(self) -> Self {
        match self {
            Self::Normal { deviation } => Self::Uniform { limit: deviation * 3.0_f64.sqrt() },
            _ => Self::GlorotUniform,
        }
    }

    /// Whether the size of what it draws is a number of the recipe, and follows from no shape.
    pub(crate) fn has_a_size_of_its_own(self) -> bool {
        matches!(
            self,
            Self::Uniform { .. } | Self::Normal { .. } | Self::TruncatedNormal { .. } | Self::Constant { .. }
        )
    }
}

/// How much faster a tensor learns and decays than the optimiser says.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Multipliers {
    pub learning_rate: f64,
    pub weight_decay: f64,
    /// The tensor is left as it is from this share of the training on.
    pub frozen_from: Option<f64>,
}

impl Default for Multipliers {
    fn default() -> Self {
        Self { learning_rate: 1.0, weight_decay: 1.0, frozen_from: None }
    }
}

/// Start and treatment of a layer's kernel and bias.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Weights {
    pub kernel: Initializer,
    /// Without it the layer has no bias.
    pub bias: Option<Initializer>,
    pub kernel_multipliers: Multipliers,
    pub bias_multipliers: Multipliers,
}

impl Weights {
    /// A bias that starts at zero, both treated alike.
    pub fn new(kernel: Initializer) -> Self {
        Self {
            kernel,
            bias: Some(Initializer::Constant { value: 0.0 }),
            kernel_multipliers: Multipliers::default(),
            bias_multipliers: Multipliers::default(),
        }
    }

    #[must_use]
    pub fn without_bias(self) -> Self {
        Self { bias: None, ..self }
    }

    #[must_use]
    pub fn with_bias(self, bias: Initializer) -> Self {
        Self { bias: Some(bias), ..self }
    }
}

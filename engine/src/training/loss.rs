use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Softmax cross-entropy, the loss of every workload, with its variations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Loss {
    /// Share of the target that is spread evenly over all classes: Szegedy et al. (2015).
    pub label_smoothing: f32,
    /// Whether gradients are those of the batch's sum; figures are means all the same.
    pub summed: bool,
    /// Logits are multiplied by this.
    pub logits_scale: f32,
}

impl Default for Loss {
    fn default() -> Self {
        Self { label_smoothing: 0.0, summed: false, logits_scale: 1.0 }
    }
}

//! Backends that are compared.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Precision;

/// A back end with the precision of its arithmetic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contender {
    pub backend: String,
    pub precision: Precision,
}

impl fmt::Display for Contender {
    /// Writes the name, followed by the precision unless it is f32.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.precision {
            Precision::F32 => write!(f, "{}", self.backend),
            precision => write!(f, "{} {}", self.backend, precision.name()),
        }
    }
}

/// A back end that could not train a workload to the end, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Refused {
    pub contender: Contender,
    pub reason: String,
}

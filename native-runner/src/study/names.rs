//! Names and numbers of a study's file, each checked while it is read, so that an error points at it.

use std::borrow::Cow;
use std::fmt;

use engine::{KNOWN_BACKENDS, WORKLOADS};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize};

use crate::cli::ALL;
use crate::suggestion::did_you_mean;
use crate::workload_file::is_file_name;

/// A network of the registry, or the file of one's own (`docs/WORKLOADS.md`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct WorkloadName(pub(crate) String);

impl WorkloadName {
    fn known() -> Vec<&'static str> {
        WORKLOADS.iter().map(|make| make().name).collect()
    }
}

impl<'de> Deserialize<'de> for WorkloadName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(NameOfWorkload).map(Self)
    }
}

impl JsonSchema for WorkloadName {
    fn schema_name() -> Cow<'static, str> {
        "Workload".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "string", "enum": Self::known() },
                {
                    "type": "string",
                    "pattern": r"\.(toml|json)$",
                    "description": "a file that describes a network, from the folder of this file",
                },
            ]
        })
    }
}

/// A back end, in this program or not, [`ALL`] of this program, or an external program, which the study names elsewhere:
/// so that it is checked once the whole file is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BackendName(pub(crate) String);

impl BackendName {
    /// Those that need not be named elsewhere.
    pub(super) fn own() -> Vec<&'static str> {
        KNOWN_BACKENDS.iter().map(|backend| backend.name).chain([ALL]).collect()
    }
}

impl JsonSchema for BackendName {
    fn schema_name() -> Cow<'static, str> {
        "Backend".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "string", "enum": Self::own() },
                { "type": "string", "description": "an external program of [programs], or of --program" },
            ]
        })
    }
}

/// A number above 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Positive(pub(crate) f64);

impl<'de> Deserialize<'de> for Positive {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_f64(NumberAboveZero).map(Self)
    }
}

impl JsonSchema for Positive {
    fn schema_name() -> Cow<'static, str> {
        "Positive".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "exclusiveMinimum": 0 })
    }
}

/// Reads one of the known names, or that of a file.
struct NameOfWorkload;

impl Visitor<'_> for NameOfWorkload {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a workload, or of its file")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<String, E> {
        let known = WorkloadName::known();
        if known.contains(&name) || is_file_name(name) {
            return Ok(name.to_owned());
        }
        Err(E::custom(format_args!(
            "there is no workload `{name}`; there are: {}; and a file of one's own ends in .toml or .json{}",
            known.join(", "),
            did_you_mean(name, known.iter().copied())
        )))
    }
}

/// Reads a number, whole or not.
struct NumberAboveZero;

impl Visitor<'_> for NumberAboveZero {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number above 0")
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<f64, E> {
        if value.is_finite() && value > 0.0 {
            return Ok(value);
        }
        Err(E::custom(format_args!("{value} is not a number above 0")))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<f64, E> {
        self.visit_f64(value as f64)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<f64, E> {
        self.visit_f64(value as f64)
    }
}

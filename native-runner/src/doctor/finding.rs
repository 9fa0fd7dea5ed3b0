use serde::Serialize;
use serde_json::Value;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Severity {
    Fine,
    /// Good to know; nothing has to be done.
    Note,
    /// Runs work, and their figures may suffer.
    Warning,
    /// Something does not work.
    Problem,
}

impl Severity {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Fine => "fine",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

/// Something that was looked at, and what to do about it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Finding {
    /// The same for the same thing on every machine.
    pub(crate) name: &'static str,
    pub(crate) severity: Severity,
    pub(crate) sentence: String,
    /// What to do, where there is something to do.
    pub(crate) advice: Option<String>,
    /// The same for programs; null where the sentence has everything.
    pub(crate) details: Value,
}

impl Finding {
    pub(crate) fn new(severity: Severity, name: &'static str, sentence: impl Into<String>) -> Self {
        Self { name, severity, sentence: sentence.into(), advice: None, details: Value::Null }
    }

    pub(crate) fn fine(name: &'static str, sentence: impl Into<String>) -> Self {
        Self::new(Severity::Fine, name, sentence)
    }

    pub(crate) fn note(name: &'static str, sentence: impl Into<String>) -> Self {
        Self::new(Severity::Note, name, sentence)
    }

    pub(crate) fn warning(name: &'static str, sentence: impl Into<String>) -> Self {
        Self::new(Severity::Warning, name, sentence)
    }

    pub(crate) fn problem(name: &'static str, sentence: impl Into<String>) -> Self {
        Self::new(Severity::Problem, name, sentence)
    }

    pub(crate) fn with_advice(self, advice: impl Into<String>) -> Self {
        Self { advice: Some(advice.into()), ..self }
    }

    pub(crate) fn with_details(self, details: Value) -> Self {
        Self { details, ..self }
    }
}

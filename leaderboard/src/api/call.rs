//! A call of the API: route, handler and documentation.

use std::collections::BTreeMap;

use axum::handler::Handler;
use axum::routing::{MethodFilter, MethodRouter, on};
use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::Leaderboard;

/// Adds the schema of a type to the document and returns a reference to it.
pub(super) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// A status, and the codes of its refusals.
pub(super) type RefusalCodes = (&'static str, &'static [&'static str]);

pub(super) struct Call {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) handler: MethodRouter<Leaderboard>,
    pub(super) summary: &'static str,
    pub(super) query: Option<SchemaOf>,
    /// The secret in `Authorization: Bearer …`.
    pub(super) bearer: Option<&'static str>,
    pub(super) body: Option<Content>,
    /// Status, meaning and content of each successful answer.
    pub(super) answers: Vec<(&'static str, &'static str, Option<Content>)>,
    refusals: Vec<RefusalCodes>,
}

#[derive(Clone, Copy)]
pub(super) enum Content {
    Json(SchemaOf),
    Other(&'static str),
}

pub(super) fn call<H, T>((method, filter): (&'static str, MethodFilter), path: &'static str, handler: H) -> Call
where
    H: Handler<T, Leaderboard>,
    T: 'static,
{
    let handler = on(filter, handler);
    let (answers, refusals) = (Vec::new(), Vec::new());
    Call { method, path, handler, summary: "", query: None, bearer: None, body: None, answers, refusals }
}

pub(super) const GET: (&str, MethodFilter) = ("get", MethodFilter::GET);
pub(super) const POST: (&str, MethodFilter) = ("post", MethodFilter::POST);
pub(super) const PUT: (&str, MethodFilter) = ("put", MethodFilter::PUT);
pub(super) const DELETE: (&str, MethodFilter) = ("delete", MethodFilter::DELETE);

impl Call {
    pub(super) fn about(self, summary: &'static str) -> Self {
        Self { summary, ..self }
    }

    pub(super) fn query<T: JsonSchema>(self) -> Self {
        Self { query: Some(SchemaGenerator::subschema_for::<T>), ..self }
    }

    pub(super) fn bearer(self, scheme: &'static str) -> Self {
        Self { bearer: Some(scheme), ..self }
    }

    pub(super) fn takes<T: JsonSchema>(self) -> Self {
        Self { body: Some(Content::Json(SchemaGenerator::subschema_for::<T>)), ..self }
    }

    pub(super) fn takes_bytes(self) -> Self {
        Self { body: Some(Content::Other("application/octet-stream")), ..self }
    }

    pub(super) fn answers<T: JsonSchema>(self, status: &'static str, meaning: &'static str) -> Self {
        self.answer(status, meaning, Some(Content::Json(SchemaGenerator::subschema_for::<T>)))
    }

    pub(super) fn gives(self, meaning: &'static str, media_type: &'static str) -> Self {
        self.answer("200", meaning, Some(Content::Other(media_type)))
    }

    pub(super) fn answer(mut self, status: &'static str, meaning: &'static str, content: Option<Content>) -> Self {
        self.answers.push((status, meaning, content));
        self
    }

    pub(super) fn refuses(mut self, refusals: &[RefusalCodes]) -> Self {
        self.refusals.extend(refusals);
        self
    }

    /// Returns the codes of each status, in order.
    pub(super) fn all_refusals(&self) -> BTreeMap<&'static str, Vec<&'static str>> {
        let is_below = |path: &str| self.path.starts_with(path);
        let lists = [
            (true, EVERY_CALL),
            (true, &self.refusals),
            (self.query.is_some(), &[("400", &["bad_query"])]),
            (is_below("/v1/runs/{id}"), &[UNKNOWN_RUN]),
            (is_below("/v1/devices/{key}"), &[UNKNOWN_DEVICE]),
            (is_below("/v1/comparisons/{id}"), &[("404", &["unknown_comparison"])]),
            (self.bearer == Some("deletion_secret"), DELETING),
            (self.body.is_some(), BODY),
            (matches!(self.body, Some(Content::Json(_))), WITH_JSON),
            (self.body.is_some() || self.bearer.is_some(), WRITING),
        ];
        let mut found: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (status, codes) in lists.into_iter().filter(|(applies, _)| *applies).flat_map(|(_, list)| list) {
            found.entry(*status).or_default().extend(codes.iter().copied());
        }
        for codes in found.values_mut() {
            codes.sort_unstable();
            codes.dedup();
        }
        found
    }
}

const EVERY_CALL: &[RefusalCodes] =
    &[("408", &["timeout", "too_slow"]), ("429", &["too_many_requests"]), ("500", &["internal"]), ("503", &["busy"])];

const BODY: &[RefusalCodes] = &[("400", &["broken_body"]), ("413", &["too_large"]), ("415", &["wrong_content_type"])];

const WITH_JSON: &[RefusalCodes] =
    &[("400", &["malformed_json", "missing_field", "out_of_range", "unknown_field", "wrong_type"])];

const WRITING: &[RefusalCodes] = &[("503", &["read_only"]), ("507", &["full"])];

pub(super) const UNKNOWN_RUN: RefusalCodes = ("404", &["unknown_run"]);
pub(super) const UNKNOWN_DEVICE: RefusalCodes = ("404", &["unknown_device"]);
const DELETING: &[RefusalCodes] = &[("401", &["missing_secret"]), ("403", &["wrong_secret"])];

use std::sync::OnceLock;

use axum::http::header;
use axum::response::IntoResponse;
use results::RunRecord;

use crate::error::ApiError;

/// The JSON Schema of a run record, made from the types that read it.
pub(crate) async fn run_record() -> Result<impl IntoResponse, ApiError> {
    static SCHEMA: OnceLock<String> = OnceLock::new();
    let text = match SCHEMA.get() {
        Some(text) => text,
        None => {
            let text = serde_json::to_string_pretty(&schemars::schema_for!(RunRecord))?;
            SCHEMA.get_or_init(|| text)
        }
    };
    Ok(([(header::CONTENT_TYPE, "application/schema+json")], text.as_str()))
}

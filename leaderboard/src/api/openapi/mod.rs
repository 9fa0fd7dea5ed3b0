//! The API as an OpenAPI 3.1 document, and as a plain page for people made from that.
//!
//! Calls are written down in `calls`, in utoipa's types. Schemas are those that schemars makes of the wire types, as they
//! are: OpenAPI 3.1 speaks the same JSON Schema (2020-12), and the types derive it already for the schema of records.
//! utoipa's own `ToSchema` would be a second description of sixty types, in a crate that the page compiles as well.

mod calls;
mod document;
mod page;
mod refusals;

use std::sync::OnceLock;

use axum::http::header;
use axum::response::{Html, IntoResponse};

use crate::error::ApiError;

/// `GET /api/v1/openapi.json`
pub(crate) async fn json() -> Result<impl IntoResponse, ApiError> {
    static TEXT: OnceLock<String> = OnceLock::new();
    let text = match TEXT.get() {
        Some(text) => text,
        None => {
            let text = serde_json::to_string_pretty(&document::document()?)?;
            TEXT.get_or_init(|| text)
        }
    };
    Ok(([(header::CONTENT_TYPE, "application/json")], text.as_str()))
}

/// `GET /api`
pub(crate) async fn html() -> Result<Html<&'static str>, ApiError> {
    static TEXT: OnceLock<String> = OnceLock::new();
    let text = match TEXT.get() {
        Some(text) => text,
        None => {
            let text = page::page(&document::document()?);
            TEXT.get_or_init(|| text)
        }
    };
    Ok(Html(text))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    const ROUTES: &str = include_str!("../mod.rs");

    /// Every method and path of the router, as its source has them: a router does not tell.
    fn routes() -> BTreeSet<String> {
        let (_, body) = ROUTES.split_once("pub(crate) fn routes()").unwrap();
        let (body, _) = body.split_once("\n}\n").unwrap();
        let mut found = BTreeSet::new();
        for route in body.split(".route(").skip(1) {
            let mut parts = route.trim_start().trim_start_matches('"').splitn(2, '"');
            let (path, handlers) = (parts.next().unwrap(), parts.next().unwrap());
            let handlers = handlers.split(".route_layer(").next().unwrap().split(".fallback(").next().unwrap();
            for method in ["get", "post", "put", "delete", "patch"] {
                if [" ", "."].iter().any(|before| handlers.contains(&format!("{before}{method}("))) {
                    found.insert(format!("{method} {}", format!("/api{path}").trim_end_matches('/')));
                }
            }
        }
        found
    }

    #[test]
    fn every_route_is_in_the_document_and_the_other_way_round() {
        let document = document::document().unwrap();
        let paths = document["paths"].as_object().unwrap();
        let documented: BTreeSet<String> = paths
            .iter()
            .flat_map(|(path, item)| item.as_object().unwrap().keys().map(move |method| format!("{method} {path}")))
            .collect();
        assert!(documented.len() > 10);
        assert_eq!(documented, routes());
    }

    fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(reference)) = members.get("$ref") {
                    found.push(reference);
                }
                members.values().for_each(|member| references(member, found));
            }
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }

    #[test]
    fn every_reference_leads_somewhere_and_every_call_says_what_may_go_wrong() {
        let document = document::document().unwrap();
        assert_eq!(document["openapi"], "3.1.0");
        let mut found = Vec::new();
        references(&document, &mut found);
        assert!(found.len() > 100);
        for reference in found {
            let pointer = reference.strip_prefix('#').unwrap_or_else(|| panic!("{reference} leaves the document"));
            assert!(document.pointer(pointer).is_some(), "{reference}");
        }
        let mut ids = BTreeSet::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, call) in item.as_object().unwrap() {
                assert!(ids.insert(call["operationId"].as_str().unwrap()), "{method} {path} has another one's name");
                assert_eq!(call["responses"]["429"]["x-codes"][0], "too_many_requests", "{method} {path}");
                let names = path.matches('{').count();
                let parameters = call["parameters"].as_array().map_or(&[][..], Vec::as_slice);
                assert_eq!(parameters.iter().filter(|one| one["in"] == "path").count(), names, "{method} {path}");
            }
        }
        let list = &document["paths"]["/api/v1/runs"]["get"];
        let ranked = list["parameters"].as_array().unwrap().iter().find(|one| one["name"] == "ranked").unwrap();
        assert!(ranked["description"].as_str().unwrap().contains("may be ranked"), "{ranked}");
    }

    #[test]
    fn the_page_has_every_call_and_nothing_from_elsewhere() {
        let page = page::page(&document::document().unwrap());
        for call in calls::CALLS {
            assert!(page.contains(&format!("/api{}", call.path).trim_end_matches('/').to_owned()), "{}", call.path);
            assert!(page.contains(call.summary), "{}", call.summary);
        }
        assert!(!page.contains("<script") && !page.contains("style") && !page.contains("src="), "{page}");
    }
}

//! The API as an OpenAPI 3.1 document, and a plain page made from it. The schemas come from schemars.

use std::fmt::Write;

use axum::http::header;
use axum::response::IntoResponse;
use results::api::ErrorBody;
use results::open_data::LICENCE;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::call::{Call, Content};
use crate::badge::escaped;

pub(crate) async fn style() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/css")], include_str!("page.css"))
}

pub(super) fn document(calls: impl Iterator<Item = Call>) -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    let mut generator = settings.into_generator();
    let mut paths = json!({});
    for call in calls {
        paths[format!("/api{}", call.path).trim_end_matches('/')][call.method] = operation(&call, &mut generator);
    }
    let bearer = |what: &str| json!({ "type": "http", "scheme": "bearer", "description": what });
    let about = format!(
        "Registers runs, validates and stores their records, and lists them. Results are open data ({LICENCE}). Time \
         is in seconds and memory in bytes. Every error has a stable code for programs and a sentence for people. If \
         you should retry later, Retry-After gives the seconds to wait. GET responses have an ETag."
    );
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Gradmark leaderboard", "version": env!("CARGO_PKG_VERSION"), "description": about },
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "securitySchemes": {
                "nonce": bearer("The nonce from the response to the registration of the run."),
                "deletion_secret": bearer("The deletion secret from the response to the upload."),
            },
        },
    })
}

fn operation(call: &Call, generator: &mut SchemaGenerator) -> Value {
    // An id such as `get_v1_runs_id_verdict`, for client generators.
    let words = call.path.split(|character: char| !character.is_ascii_alphanumeric());
    let id: Vec<&str> = [call.method].into_iter().chain(words).filter(|word| !word.is_empty()).collect();
    let mut responses = Map::new();
    for (status, meaning, content) in &call.answers {
        let mut response = json!({ "description": meaning });
        if let Some(content) = content {
            response["content"] = describe_content(*content, generator);
        }
        responses.insert((*status).to_owned(), response);
    }
    for (status, codes) in call.all_refusals() {
        let schema = generator.subschema_for::<ErrorBody>();
        let refusal = json!({
            "description": format!("Error with the code {}", codes.join(", ")),
            "content": { "application/json": { "schema": schema } },
            "x-codes": codes,
        });
        responses.insert(status.to_owned(), refusal);
    }
    let mut operation = json!({ "summary": call.summary, "operationId": id.join("_"), "responses": responses });
    let parameters: Vec<Value> = path_parameters(call.path).chain(query_parameters(call, generator)).collect();
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    if let Some(content) = call.body {
        operation["requestBody"] = json!({ "required": true, "content": describe_content(content, generator) });
    }
    if let Some(scheme) = call.bearer {
        operation["security"] = json!([{ scheme: [] }]);
    }
    operation
}

fn describe_content(content: Content, generator: &mut SchemaGenerator) -> Value {
    match content {
        Content::Json(shape) => json!({ "application/json": { "schema": shape(generator) } }),
        Content::Other(kind) => json!({ kind: {} }),
    }
}

fn path_parameters(path: &'static str) -> impl Iterator<Item = Value> {
    let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.split('}').next());
    names.map(|name| {
        let (schema, meaning) = match name {
            "id" => (json!({ "type": "string", "pattern": "^[0-9a-f]{16}$" }), "The run"),
            "step" => (json!({ "type": "integer", "minimum": 0 }), "Steps done"),
            _ => (json!({ "type": "string" }), "Its name"),
        };
        json!({ "name": name, "in": "path", "required": true, "description": meaning, "schema": schema })
    })
}

fn query_parameters(call: &Call, generator: &mut SchemaGenerator) -> Vec<Value> {
    let Some(shape) = call.query else { return Vec::new() };
    let schema = shape(generator);
    let place = schema.get("$ref").and_then(Value::as_str).unwrap_or_default();
    let name = place.rsplit('/').next().unwrap_or_default();
    let fields = generator.definitions().get(name).and_then(|schema| schema.get("properties")?.as_object());
    let parameter = |(field, schema): (&String, &Value)| {
        let mut parameter = json!({ "name": field, "in": "query", "required": false });
        parameter["schema"] = json!({ "$ref": format!("{place}/properties/{field}") });
        if let Some(description) = schema.get("description") {
            parameter["description"] = description.clone();
        }
        parameter
    };
    fields.into_iter().flat_map(Map::iter).map(parameter).collect()
}

pub(super) fn page(document: &Value) -> String {
    let mut text = String::from(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<link rel=\"stylesheet\" href=\"/api/page.css\">\n<title>Gradmark leaderboard: API</title>\n</head>\n<body>\n\
         <h1>The leaderboard's API</h1>\n",
    );
    let _ = writeln!(text, "<p>{}</p>", string(&document["info"]["description"]));
    text.push_str(
        "<p>For programs: <a href=\"/api/v1/openapi.json\">the OpenAPI document</a>, with the schemas of all requests \
         and responses, and <a href=\"/api/v1/schema\">the JSON Schema of a run record</a>.</p>\n",
    );
    for (path, item) in members(&document["paths"]) {
        for (method, call) in members(item) {
            write_call(&mut text, path, method, call);
        }
    }
    text.push_str("</body>\n</html>\n");
    text
}

fn write_call(text: &mut String, path: &str, method: &str, call: &Value) {
    let _ = writeln!(text, "<h2><code>{} {}</code></h2>", method.to_uppercase(), escaped(path));
    let _ = writeln!(text, "<p>{}.</p>\n<ul>", string(&call["summary"]));
    for parameter in call["parameters"].as_array().into_iter().flatten() {
        let (name, place) = (string(&parameter["name"]), string(&parameter["in"]));
        let _ = writeln!(text, "<li><code>{name}</code> in the {place}: {}</li>", string(&parameter["description"]));
    }
    for (scheme, _) in call["security"].as_array().into_iter().flatten().flat_map(members) {
        let _ = writeln!(text, "<li>header <code>Authorization: Bearer &lt;{}&gt;</code></li>", escaped(scheme));
    }
    for content in contents(&call["requestBody"]) {
        let _ = writeln!(text, "<li>body: {content}</li>");
    }
    for (status, response) in members(&call["responses"]) {
        let answered = contents(response).filter(|_| response.get("x-codes").is_none());
        let content: String = answered.map(|content| format!(", {content}")).collect();
        let _ = writeln!(text, "<li>{}: {}{content}</li>", escaped(status), string(&response["description"]));
    }
    text.push_str("</ul>\n");
}

fn contents(body: &Value) -> impl Iterator<Item = String> {
    members(&body["content"]).map(|(kind, content)| {
        let schema = content["schema"]["$ref"].as_str().and_then(|reference| reference.rsplit('/').next());
        let named = schema.map_or_else(String::new, |schema| format!(", <code>{}</code>", escaped(schema)));
        format!("<code>{}</code>{named}", escaped(kind))
    })
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn string(value: &Value) -> String {
    escaped(value.as_str().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::calls::all;
    use super::*;

    #[test]
    fn references_resolve_and_calls_list_their_refusals() {
        let document = document(all());
        assert_eq!(document["openapi"], "3.1.0");
        let text = document.to_string();
        let references = text.split("\"$ref\":\"").skip(1);
        let references: Vec<&str> = references.map(|rest| rest.split('"').next().unwrap()).collect();
        assert!(references.len() > 100);
        for reference in references {
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
        let page = page(&document(all()));
        for call in all() {
            assert!(page.contains(format!("/api{}", call.path).trim_end_matches('/')), "{}", call.path);
            assert!(page.contains(call.summary), "{}", call.summary);
        }
        assert!(!page.contains("<script") && !page.contains("<style") && !page.contains("src="), "{page}");
    }
}

//! The API as an OpenAPI 3.1 document, and as a plain page for people made from that.
//!
//! Calls are written down in `calls`, in utoipa's types. Schemas are those that schemars makes of the wire types, as they
//! are: OpenAPI 3.1 speaks the same JSON Schema (2020-12), and the types derive it already for the schema of records.
//! utoipa's own `ToSchema` would be a second description of sixty types, in a crate that the page compiles as well.

mod calls;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::OnceLock;

use axum::http::header;
use axum::response::{Html, IntoResponse};
use results::api::ErrorBody;
use results::open_data::LICENCE;
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};
use utoipa::openapi::extensions::ExtensionsBuilder;
use utoipa::openapi::path::{Operation, OperationBuilder, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    ComponentsBuilder, ContentBuilder, InfoBuilder, ObjectBuilder, OpenApiBuilder, Paths, Ref, Required, Response,
    ResponseBuilder, Type,
};

use crate::badge::escaped;
use crate::error::ApiError;
use calls::{ANY, CALLS, Call, Content, WITH_BODY, WITH_JSON, WRITING};

/// `GET /api/v1/openapi.json`
pub(crate) async fn json() -> Result<impl IntoResponse, ApiError> {
    static TEXT: OnceLock<String> = OnceLock::new();
    let text = made_once(&TEXT, || serde_json::to_string_pretty(&document()?))?;
    Ok(([(header::CONTENT_TYPE, "application/json")], text))
}

/// `GET /api`
pub(crate) async fn html() -> Result<Html<&'static str>, ApiError> {
    static TEXT: OnceLock<String> = OnceLock::new();
    Ok(Html(made_once(&TEXT, || Ok(page(&document()?)))?))
}

/// Returns the text in a cell, which is made at the first call.
pub(crate) fn made_once(
    cell: &'static OnceLock<String>,
    make: impl FnOnce() -> Result<String, serde_json::Error>,
) -> Result<&'static str, serde_json::Error> {
    match cell.get() {
        Some(text) => Ok(text),
        None => make().map(|text| cell.get_or_init(|| text).as_str()),
    }
}

const SCHEMAS: &str = "/components/schemas";

/// The whole document.
///
/// # Errors
/// What is not JSON, which the tests would have found.
pub(super) fn document() -> Result<Value, serde_json::Error> {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = SCHEMAS.into();
    let mut generator = settings.into_generator();
    let mut paths = Paths::new();
    for call in CALLS {
        let path = format!("/api{}", call.path);
        paths.add_path_operation(
            path.trim_end_matches('/'),
            vec![call.method.clone()],
            operation(call, &mut generator),
        );
    }
    let bearer = |what: &str| {
        SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(what)).build())
    };
    let components = ComponentsBuilder::new()
        .security_scheme("nonce", bearer("The nonce that the registration of the run gave."))
        .security_scheme("deletion_secret", bearer("The secret that the answer to the upload had."))
        .build();
    let about = format!(
        "Registers runs, checks and keeps their records, and lists them. Results are open data ({LICENCE}). Time is in \
         seconds and memory in bytes. Every refusal has a code for programs, which stays as it is, and a sentence for \
         people; who is asked to wait finds the seconds in Retry-After. What is read has an ETag."
    );
    let info = InfoBuilder::new()
        .title("Gradmark leaderboard")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(about))
        .build();
    let document = OpenApiBuilder::new().info(info).paths(paths).components(Some(components)).build();
    let mut document = serde_json::to_value(document)?;
    document["components"]["schemas"] = Value::Object(generator.take_definitions(true));
    Ok(document)
}

fn operation(call: &Call, generator: &mut SchemaGenerator) -> Operation {
    let mut operation = OperationBuilder::new().summary(Some(call.summary)).operation_id(Some(name(call)));
    for parameter in path_parameters(call.path).chain(query_parameters(call, generator)) {
        operation = operation.parameter(parameter);
    }
    if let Some(content) = call.body {
        let (kind, content) = described(content, generator);
        let body = RequestBodyBuilder::new().required(Some(Required::True)).content(kind, content).build();
        operation = operation.request_body(Some(body));
    }
    if let Some(scheme) = call.bearer {
        operation = operation.security(SecurityRequirement::new(scheme, <[String; 0]>::default()));
    }
    for (status, meaning, content) in call.answers {
        let mut response = ResponseBuilder::new().description(*meaning);
        if let Some(content) = content {
            let (kind, content) = described(*content, generator);
            response = response.content(kind, content);
        }
        operation = operation.response(*status, response.build());
    }
    for (status, codes) in refusals(call) {
        operation = operation.response(status, refusal(&codes, generator));
    }
    operation.build()
}

/// `get_v1_runs_id_verdict`, for programs that make other programs from this.
fn name(call: &Call) -> String {
    let method = serde_json::to_value(&call.method).ok().and_then(|method| Some(method.as_str()?.to_owned()));
    let words = call.path.split(|character: char| !character.is_ascii_alphanumeric());
    method.iter().map(String::as_str).chain(words).filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_")
}

/// The codes of each status, in order.
fn refusals(call: &Call) -> BTreeMap<&'static str, Vec<&'static str>> {
    let mut lists = vec![ANY, call.refusals];
    if let Some(body) = call.body {
        lists.push(WITH_BODY);
        if matches!(body, Content::Json(_)) {
            lists.push(WITH_JSON);
        }
    }
    if call.body.is_some() || call.bearer.is_some() {
        lists.push(WRITING);
    }
    let mut found: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (status, codes) in lists.into_iter().flatten() {
        found.entry(*status).or_default().extend(codes.iter().copied());
    }
    for codes in found.values_mut() {
        codes.sort_unstable();
        codes.dedup();
    }
    found
}

fn refusal(codes: &[&str], generator: &mut SchemaGenerator) -> Response {
    let schema = reference(&generator.subschema_for::<ErrorBody>());
    ResponseBuilder::new()
        .description(format!("Refused with the code {}", codes.join(", ")))
        .content("application/json", ContentBuilder::new().schema(schema).build())
        .extensions(Some(ExtensionsBuilder::new().add("x-codes", json!(codes)).build()))
        .build()
}

fn described(content: Content, generator: &mut SchemaGenerator) -> (&'static str, utoipa::openapi::Content) {
    match content {
        Content::Json(shape) => {
            ("application/json", ContentBuilder::new().schema(reference(&shape(generator))).build())
        }
        Content::Other(kind) => (kind, ContentBuilder::new().build()),
    }
}

/// What schemars says of a type that has a name is only where its schema is.
fn reference(schema: &Schema) -> Option<Ref> {
    schema.get("$ref").and_then(Value::as_str).map(Ref::new)
}

fn path_parameters(path: &'static str) -> impl Iterator<Item = Parameter> {
    let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.split('}').next());
    names.map(|name| {
        let (schema, meaning) = match name {
            "id" => (ObjectBuilder::new().schema_type(Type::String).pattern(Some("^[0-9a-f]{16}$")), "The run"),
            "step" => (ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0_usize)), "Steps done"),
            _ => (ObjectBuilder::new().schema_type(Type::String), "Its name"),
        };
        ParameterBuilder::new()
            .name(name)
            .parameter_in(ParameterIn::Path)
            .required(Required::True)
            .description(Some(meaning))
            .schema(Some(schema.build()))
            .build()
    })
}

/// The fields of the type that reads the query. Each points at the schema of its field, so that nothing is said twice.
fn query_parameters(call: &Call, generator: &mut SchemaGenerator) -> Vec<Parameter> {
    let Some(shape) = call.query else { return Vec::new() };
    let schema = shape(generator);
    let place = schema.get("$ref").and_then(Value::as_str).unwrap_or_default();
    let name = place.rsplit('/').next().unwrap_or_default();
    let fields = generator.definitions().get(name).and_then(|schema| schema.get("properties")?.as_object());
    fields.into_iter().flat_map(Map::iter).map(|(field, schema)| query_parameter(place, field, schema)).collect()
}

fn query_parameter(place: &str, field: &str, schema: &Value) -> Parameter {
    ParameterBuilder::new()
        .name(field)
        .parameter_in(ParameterIn::Query)
        .required(Required::False)
        .description(schema.get("description").and_then(Value::as_str))
        .schema(Some(Ref::new(format!("{place}/properties/{field}"))))
        .build()
}

/// The page, from the document that programs read.
pub(super) fn page(document: &Value) -> String {
    let mut text = String::from(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>Gradmark leaderboard: API</title>\n</head>\n<body>\n\
         <h1>The leaderboard's API</h1>\n",
    );
    let _ = writeln!(text, "<p>{}</p>", string(&document["info"]["description"]));
    text.push_str(
        "<p>For programs: <a href=\"/api/v1/openapi.json\">the OpenAPI document</a>, with the schema of everything that is \
         sent and answered, and <a href=\"/api/v1/schema\">the JSON Schema of a run record</a>.</p>\n",
    );
    for (path, item) in members(&document["paths"]) {
        for (method, call) in members(item) {
            write_call(&mut text, path, method, call);
        }
    }
    text.push_str("</body>\n</html>\n");
    text
}

/// Writing to a string always succeeds.
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

/// What a body is: its media type, and its schema where it has one.
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
        let document = document().unwrap();
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
        let document = document().unwrap();
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
        let page = page(&document().unwrap());
        for call in calls::CALLS {
            assert!(page.contains(&format!("/api{}", call.path).trim_end_matches('/').to_owned()), "{}", call.path);
            assert!(page.contains(call.summary), "{}", call.summary);
        }
        assert!(!page.contains("<script") && !page.contains("style") && !page.contains("src="), "{page}");
    }
}

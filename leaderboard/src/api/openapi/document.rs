//! The document, made from the list of calls and from the schemas of the wire types.

use std::collections::BTreeMap;

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

use super::calls::{CALLS, Call, Content};
use super::refusals::{ANY, WITH_BODY, WITH_JSON, WRITING};

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

//! The document as a plain page. The page's policy allows no code and no styles from elsewhere, and it needs neither.

use std::fmt::Write;

use serde_json::Value;

use crate::markup::escaped;

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

//! The API tells what it is, and is what it tells.

use serde_json::Value;

use crate::support::TestServer;

#[test]
fn every_documented_call_is_there_and_no_other_method_is() {
    let server = TestServer::start();
    let answer = server.get("/api/v1/openapi.json");
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, "application/json"));
    let document: Value = answer.parse();
    for (path, item) in document["paths"].as_object().unwrap() {
        let address = path
            .replace("{id}", "0123456789abcdef")
            .replace("{key}", "nothing")
            .replace("{workload}", "caffe-mnist")
            .replace("{step}", "0");
        for method in ["get", "put", "post", "delete"] {
            let answer = server.send(&method.to_uppercase(), &address, &[], b"");
            let documented = item.get(method).is_some();
            assert_eq!(answer.status != 405, documented, "{method} {path}: {}", answer.text());
            assert!(!answer.text().contains("unknown_route"), "{method} {path}");
            let status = answer.status.as_u16().to_string();
            let Some(call) = item.get(method) else { continue };
            let response = &call["responses"][&status];
            assert!(response.is_object(), "{method} {path} answers {status}, which is not in the document");
            if let Some(codes) = response["x-codes"].as_array() {
                let code = answer.parse::<results::api::ErrorBody>().code;
                assert!(codes.contains(&Value::from(code.as_str())), "{method} {path}: {code}");
            }
        }
    }
}

#[test]
fn people_find_a_page_that_the_policy_lets_them_see() {
    let server = TestServer::start();
    let page = server.get("/api");
    assert_eq!((page.status.as_u16(), page.header("content-type")), (200, "text/html; charset=utf-8"));
    assert!(page.text().contains("<h2><code>GET /api/v1/runs/{id}/verdict</code></h2>"), "{}", page.text());
    assert!(server.get("/api/nothing").assert_refused(404, "unknown_route", "").message.contains("/api"));
}

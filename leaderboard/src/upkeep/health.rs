//! A sign of life, for a container's health check or a service's watch, without a program such as curl.

use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, StatusCode, Uri, header};
use http_body_util::{BodyExt, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::UpkeepError;

/// A health check that waits longer would itself be waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// `/healthz` answers in a word; a refusal has a sentence.
const LONGEST_ANSWER: usize = 4096;

pub(super) async fn ask(server: &str) -> Result<String, UpkeepError> {
    let unwell = |what: String| UpkeepError::Unwell { server: server.to_owned(), what };
    let address = address(server).ok_or_else(|| UpkeepError::Address(server.to_owned()))?;
    let answer = tokio::time::timeout(PATIENCE, request(&address)).await;
    match answer {
        Err(_) => Err(unwell(format!("no answer in {} seconds", PATIENCE.as_secs()))),
        Ok(Err(cause)) => Err(unwell(cause.to_string())),
        Ok(Ok((StatusCode::OK, _))) => Ok(format!("{server} is well")),
        Ok(Ok((status, text))) => Err(unwell(format!("status {status}: {text}"))),
    }
}

/// Host and port of `http://HOST:PORT`, with or without a slash at its end.
fn address(server: &str) -> Option<String> {
    let uri: Uri = server.parse().ok()?;
    let is_plain = uri.scheme_str() == Some("http") && uri.path() == "/" && uri.query().is_none();
    let authority = uri.authority().filter(|_| is_plain)?;
    Some(format!("{}:{}", authority.host(), authority.port_u16().unwrap_or(80)))
}

async fn request(address: &str) -> Result<(StatusCode, String), Box<dyn std::error::Error + Send + Sync>> {
    let stream = TcpStream::connect(address).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let connection = tokio::spawn(connection);
    let request = Request::get("/healthz").header(header::HOST, address).body(Body::empty())?;
    let response = sender.send_request(request).await?;
    let status = response.status();
    let body = Limited::new(response.into_body(), LONGEST_ANSWER).collect().await?.to_bytes();
    connection.abort();
    Ok((status, String::from_utf8_lossy(&body).trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_plain_address_of_a_server_is_asked() {
        for (given, expected) in [
            ("http://127.0.0.1:8080", Some("127.0.0.1:8080")),
            ("http://127.0.0.1:8080/", Some("127.0.0.1:8080")),
            ("http://[::1]:9000", Some("[::1]:9000")),
            ("http://localhost", Some("localhost:80")),
            ("https://board.example", None),
            ("127.0.0.1:8080", None),
            ("http://127.0.0.1:8080/healthz", None),
        ] {
            assert_eq!(address(given).as_deref(), expected, "{given}");
        }
    }
}

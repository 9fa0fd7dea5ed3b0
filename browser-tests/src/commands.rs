//! What chromedriver offers beyond the commands that fantoccini knows.

use fantoccini::elements::ElementRef;
use fantoccini::wd::WebDriverCompatibleCommand;
use http::Method;
use serde_json::{Value, json};
use url::{ParseError, Url};

#[derive(Clone, Debug)]
pub(crate) enum Command {
    /// Role of an element in the accessibility tree.
    ComputedRole(ElementRef),
    /// Accessible name of an element.
    ComputedLabel(ElementRef),
    /// New entries of a log: `browser` (its console) or `performance` (its network events).
    Log(&'static str),
    /// A command of the Chrome DevTools Protocol.
    DevTools(&'static str, Value),
}

impl WebDriverCompatibleCommand for Command {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        let session = base.join(&format!("session/{}/", session.unwrap_or_default()))?;
        match self {
            Self::ComputedRole(element) => session.join(&format!("element/{}/computedrole", element.as_ref())),
            Self::ComputedLabel(element) => session.join(&format!("element/{}/computedlabel", element.as_ref())),
            Self::Log(_) => session.join("se/log"),
            Self::DevTools(..) => session.join("goog/cdp/execute"),
        }
    }

    fn method_and_body(&self, _url: &Url) -> (Method, Option<String>) {
        match self {
            Self::ComputedRole(_) | Self::ComputedLabel(_) => (Method::GET, None),
            Self::Log(kind) => (Method::POST, Some(json!({ "type": kind }).to_string())),
            Self::DevTools(command, parameters) => {
                (Method::POST, Some(json!({ "cmd": command, "params": parameters }).to_string()))
            }
        }
    }
}

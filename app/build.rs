//! Generates the module `words::messages` from the files in `locales/`: for each text a constant, or a struct with its
//! arguments as fields, so that the compiler finds unknown texts and missing or extra arguments. The build fails if a
//! language lacks a text or uses different arguments, and reports the file and name. Also selects the published results
//! that the page shows.

#[path = "build/catalogue.rs"]
mod catalogue;
#[path = "build/published.rs"]
mod published;

use std::path::Path;
use std::{env, fs, process};

use catalogue::{CatalogueMessage, Text};
use serde_json::Value;

/// Prefixes of texts that are looked up by a name in the data.
const NAMED: [&str; 5] = ["backend_", "fact_", "metric_", "network_", "tier_"];

fn main() {
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=locales");
    let folder = env::var("CARGO_MANIFEST_DIR").expect("cargo says where the crate is");
    let messages = catalogue::read(&Path::new(&folder).join("locales")).unwrap_or_else(|problem| {
        println!("cargo::error={problem}");
        process::exit(1);
    });
    let out = env::var("OUT_DIR").expect("cargo says where to write");
    let write = |name, text: &str| fs::write(Path::new(&out).join(name), text).expect("OUT_DIR can be written");
    write("messages.rs", &rust(&messages));
    let results = published::results();
    write("published.json", &Value::from(published::times(&results)).to_string());
    write("published-accuracies.json", &Value::from(published::accuracies(&results)).to_string());
}

/// Source code of the module `words::messages`.
fn rust(messages: &[CatalogueMessage]) -> String {
    let mut source: String = messages.iter().map(of_message).collect();
    let is_named = |message: &&CatalogueMessage| {
        NAMED.iter().any(|group| message.name.starts_with(group)) && message.texts[0].arguments.is_empty()
    };
    let named = messages.iter().filter(is_named).map(|of| format!("    ({0:?}, {0}),\n", of.name));
    let named: String = named.collect();
    source += &format!("/// Texts for names in the data.\npub const NAMED: &[(&str, PlainText)] = &[\n{named}];\n");
    let entry = |of: &CatalogueMessage| format!("({:?}, {}),\n", of.name, quoted(of, |text| text.other.clone()));
    let entries: String = messages.iter().map(entry).collect();
    source.push_str(&format!(
        "/// Each text by its name, in all languages.\n#[cfg(not(target_arch = \"wasm32\"))]\n\
         pub const ALL: &[(&str, [&str; {}])] = &[\n{entries}];\n",
        catalogue::LANGUAGES.len()
    ));
    source
}

/// Array with a text of a message for each language.
fn quoted(message: &CatalogueMessage, text: impl Fn(&Text) -> String) -> String {
    format!("{:?}", message.texts.iter().map(text).collect::<Vec<_>>())
}

fn of_message(message: &CatalogueMessage) -> String {
    let CatalogueMessage { name, texts } = message;
    let Text { arguments, other, .. } = &texts[0];
    let counted = texts.iter().find_map(|text| text.counted.as_ref());
    let documentation = other.replace('[', "\\[").replace('<', "\\<");
    if arguments.is_empty() {
        let texts = quoted(message, |text| text.other.clone());
        return format!("/// {documentation}\npub const {name}: PlainText = PlainText({texts});\n");
    }
    let kind = |argument: &String| {
        if counted == Some(argument) { "&'a u64" } else { "&'a str" }
    };
    let field = |argument| format!("    pub r#{argument}: {},\n", kind(argument));
    let fields: String = arguments.iter().map(field).collect();
    let value = |argument: &String| match counted {
        Some(counted) if counted == argument => format!("&language().grouped(*self.r#{argument})"),
        _ => format!("self.r#{argument}"),
    };
    let values: Vec<String> = arguments.iter().map(value).collect();
    let numbered = |text: &str| {
        arguments.iter().enumerate().fold(text.to_owned(), |text, (number, argument)| {
            text.replace(&format!("{{{argument}}}"), &format!("{{{number}}}"))
        })
    };
    let others = quoted(message, |text| numbered(&text.other));
    let pattern = match counted {
        Some(argument) => {
            let ones = quoted(message, |text| numbered(text.one.as_ref().unwrap_or(&text.other)));
            format!("if *self.r#{argument} == 1 {{ {ones} }} else {{ {others} }}")
        }
        None => others,
    };
    format!(
        "/// {documentation}\npub struct {name}<'a> {{\n{fields}}}\nimpl {name}<'_> {{\n    /// In the language of the \
         page.\n    pub fn text(&self) -> String {{\n        filled({pattern}, &[{}])\n    }}\n}}\n",
        values.join(", ")
    )
}

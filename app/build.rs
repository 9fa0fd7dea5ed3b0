//! Generates the module `words::messages` from the files in `locales/`: for each text a constant, or a struct with its
//! arguments as fields, so that the compiler finds unknown texts and missing or extra arguments. The build fails if a
//! language lacks a text or uses different arguments, and reports the file and name.

#[path = "build/catalogue.rs"]
mod catalogue;

use std::path::Path;
use std::{env, fs, process};

use catalogue::{Message, Text};

/// Prefixes of texts that are looked up by a name in the data.
const NAMED: [&str; 5] = ["backend_", "fact_", "metric_", "network_", "tier_"];

fn main() {
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=locales");
    let folder = env::var("CARGO_MANIFEST_DIR").expect("cargo says where the crate is");
    let messages = match catalogue::read(&Path::new(&folder).join("locales")) {
        Ok(messages) => messages,
        Err(problems) => {
            for problem in problems {
                println!("cargo::error={problem}");
            }
            process::exit(1);
        }
    };
    let out = env::var("OUT_DIR").expect("cargo says where to write");
    fs::write(Path::new(&out).join("messages.rs"), rust(&messages)).expect("the target folder can be written");
}

/// Source code of the module `words::messages`.
fn rust(messages: &[Message]) -> String {
    let mut source = String::new();
    for message in messages {
        source.push_str(&of_message(message));
    }
    let entries: Vec<String> = messages
        .iter()
        .map(|message| {
            let texts: Vec<String> = message.texts.iter().map(|text| format!("{:?}", text.other)).collect();
            format!("({:?}, [{}])", message.name, texts.join(", "))
        })
        .collect();
    let is_named = |message: &&Message| NAMED.iter().any(|group| message.name.starts_with(group));
    let named = messages.iter().filter(is_named).filter(|message| message.arguments.is_empty());
    let named: String = named.map(|Message { name, .. }| format!("    ({name:?}, {name}),\n")).collect();
    source.push_str(&format!("/// Texts for names in the data.\npub const NAMED: &[(&str, Plain)] = &[\n{named}];\n"));
    source.push_str(&format!(
        "/// Each text by its name, in all languages.\n#[cfg(not(target_arch = \"wasm32\"))]\n\
         pub const ALL: &[(&str, [&str; {}])] = &[\n{}\n];\n",
        catalogue::LANGUAGES.len(),
        entries.join(",\n")
    ));
    source
}

fn of_message(message: &Message) -> String {
    let Message { name, texts, arguments, counted } = message;
    let documentation = texts[0].other.replace('[', "\\[").replace('<', "\\<");
    if arguments.is_empty() {
        let texts: Vec<String> = texts.iter().map(|text| format!("{:?}", text.other)).collect();
        return format!("/// {documentation}\npub const {name}: Plain = Plain([{}]);\n", texts.join(", "));
    }
    let kind = |argument: &String| {
        if counted.as_ref() == Some(argument) { "&'a u64" } else { "&'a dyn Argument" }
    };
    let fields: Vec<String> =
        arguments.iter().map(|argument| format!("    pub r#{argument}: {},\n", kind(argument))).collect();
    let values: Vec<String> = arguments.iter().map(|argument| format!("self.r#{argument}")).collect();
    let numbered = |text: &str| {
        let mut text = text.to_owned();
        for (number, argument) in arguments.iter().enumerate() {
            text = text.replace(&format!("{{{argument}}}"), &format!("{{{number}}}"));
        }
        text
    };
    let one = |text: &Text| format!("{:?}", numbered(text.one.as_ref().unwrap_or(&text.other)));
    let other = |text: &Text| format!("{:?}", numbered(&text.other));
    let written = |of: &dyn Fn(&Text) -> String| format!("[{}]", texts.iter().map(of).collect::<Vec<_>>().join(", "));
    let pattern = match counted {
        Some(argument) => {
            format!("if *self.r#{argument} == 1 {{ {} }} else {{ {} }}", written(&one), written(&other))
        }
        None => written(&other),
    };
    format!(
        "/// {documentation}\npub struct {name}<'a> {{\n{}}}\nimpl {name}<'_> {{\n    /// In the language of the page.\n    \
         pub fn text(&self) -> String {{\n        filled({pattern}, &[{}])\n    }}\n}}\n",
        fields.concat(),
        values.join(", ")
    )
}

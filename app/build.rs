//! Makes the module `words::messages` from the files in `locales/`. A text that one of the languages lacks, or that has
//! other arguments in one than in another, ends the build here with its file and its name.

#[path = "build/catalogue.rs"]
mod catalogue;
#[path = "build/generated.rs"]
mod generated;

use std::path::Path;
use std::{env, fs, process};

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
    fs::write(Path::new(&out).join("messages.rs"), generated::rust(&messages))
        .expect("the target folder can be written");
}

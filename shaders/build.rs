//! Copies the WGSL files without comments: with them each worker of the page is 52 kB larger, compressed. Lines keep
//! their numbers, so that messages of compilers fit the files.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let out = env::var_os("OUT_DIR").expect("cargo names the output folder");
    for folder in ["kernels", "shared"] {
        println!("cargo::rerun-if-changed={folder}");
        let to = Path::new(&out).join(folder);
        fs::create_dir_all(&to)?;
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let Some(name) = path.file_name().filter(|_| path.extension().is_some_and(|end| end == "wgsl")) else {
                continue;
            };
            let source = fs::read_to_string(&path)?;
            // WGSL has no strings, so that two slashes always begin a comment.
            let code =
                source.lines().map(|line| line.split("//").next().unwrap_or_default().trim_end().to_owned() + "\n");
            fs::write(to.join(name), code.collect::<String>())?;
        }
    }
    Ok(())
}

//! Copies the WGSL files without comments: with them each worker of the page is 52 kB larger, compressed. Lines keep
//! their numbers, so that messages of compilers fit the files. Also writes the Rust twins of the parameter blocks, and
//! the registry of kernels.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let out = env::var_os("OUT_DIR").expect("cargo names the output folder");
    let (mut blocks, mut registry) = (String::new(), String::new());
    for folder in ["kernels", "shared"] {
        println!("cargo::rerun-if-changed={folder}");
        let to = Path::new(&out).join(folder);
        fs::create_dir_all(&to)?;
        let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
        paths.sort();
        for path in paths {
            let Some(name) = path.file_name().filter(|_| path.extension().is_some_and(|end| end == "wgsl")) else {
                continue;
            };
            let source = fs::read_to_string(&path)?;
            // WGSL has no strings, so that two slashes always begin a comment.
            let code =
                source.lines().map(|line| line.split("//").next().unwrap_or_default().trim_end().to_owned() + "\n");
            fs::write(to.join(name), code.collect::<String>())?;
            for structure in source.split("struct ").skip(1).filter_map(|rest| rest.split_once("\n}")) {
                blocks.extend(rust_block(&source, structure.0));
            }
            if folder == "kernels" {
                registry += &kernels(&path.file_stem().expect("the name of a file").to_string_lossy(), &source);
            }
        }
    }
    fs::write(Path::new(&out).join("kernels.rs"), format!("&[{registry}]"))?;
    fs::write(Path::new(&out).join("params.rs"), blocks)
}

/// Structures that Rust fills or reads, besides parameter blocks.
const SHARED: [&str; 4] = ["Step", "Epilogue", "BlockMultipliers", "StepResult"];

/// Returns the registry's entries for the kernels of a file. For each of them, its header has
/// `// kernel "NAME", SIZE invocations:` and the shared parts of the source, besides the step.
fn kernels(file: &str, source: &str) -> String {
    let header: String = source.lines().take_while(|line| line.starts_with("//")).collect();
    let params = params_name(source).unwrap_or_else(|| panic!("{file}.wgsl does not name its parameter block"));
    let bindings = source.lines().filter(|line| line.contains("var<storage, "));
    let access = |line: &str| if line.contains("read_write") { "Access::ReadWrite, " } else { "Access::Read, " };
    let storage: String = bindings.map(access).collect();
    let mut entries = String::new();
    for kernel in header.split("// kernel ").skip(1) {
        let words: Vec<&str> = kernel.split('"').collect();
        let size: String = words[2].chars().filter(char::is_ascii_digit).collect();
        let mut names = words.into_iter().skip(1).step_by(2);
        let name = names.next().expect("a kernel has a name");
        let parts = ["step"].into_iter().chain(names).map(|part| format!("include_str!(\"shared/{part}.wgsl\"), "));
        let sources = parts.collect::<String>() + &format!("include_str!(\"kernels/{file}.wgsl\")");
        entries += &format!(
            "Kernel {{ name: {name:?}, sources: &[{sources}], workgroup_size: {size}, \
             params_bytes: size_of::<params::{params}>(), storage: &[{storage}] }},\n"
        );
    }
    assert!(!entries.is_empty(), "{file}.wgsl does not list its kernels");
    entries
}

/// Returns the Rust name of the parameter block of a file, which one of its comments contains.
fn params_name(source: &str) -> Option<&str> {
    let rest = ["`params::", "// params: "].into_iter().find_map(|before| source.split_once(before))?.1;
    rest.split(|c: char| !c.is_alphanumeric()).next()
}

/// Returns the Rust twin of a structure in `source`, if it has one. A parameter block is called `Params` in WGSL.
fn rust_block(source: &str, structure: &str) -> Option<String> {
    let (name, fields) = structure.split_once(" {\n")?;
    let name =
        if name == "Params" { params_name(source)? } else { SHARED.into_iter().find(|shared| *shared == name)? };
    let mut block = format!(
        "/// Structure `{name}` of the WGSL files, which describe it.\n\
         #[repr(C)]\n#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]\npub struct {name} {{\n"
    );
    let mut reserved = 0;
    for line in fields.lines().map(str::trim) {
        if line.starts_with("reserved") {
            reserved += 1;
            continue;
        }
        block += &reserved_field(&mut reserved);
        match line.strip_prefix("//") {
            Some(comment) => block += &format!("///{comment}\n"),
            None => block += &format!("pub {}\n", line.replace("vec4<f32>", "[f32; 4]")),
        }
    }
    Some(block + &reserved_field(&mut reserved) + "}\n")
}

/// Returns the field for numbers that fill up a block to 16 bytes: single numbers in WGSL, one array in Rust.
fn reserved_field(count: &mut usize) -> String {
    match std::mem::take(count) {
        0 => String::new(),
        1 => "pub reserved: u32,\n".to_owned(),
        count => format!("pub reserved: [u32; {count}],\n"),
    }
}

//! Copies the WGSL files without comments: with them each worker of the page is 52 kB larger, compressed. A line with
//! `$` is repeated for each lane of the kernel's subgroup, with the lane's number in place of `$`, but as one line: lines
//! keep their numbers, so that messages of compilers fit the files. Also writes the Rust twins of the parameter blocks,
//! and the registry of kernels.

use std::collections::HashSet;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let out = env::var_os("OUT_DIR").expect("cargo names the output folder");
    let (mut blocks, mut registry) = (String::new(), String::new());
    let (mut repeating, mut with_epilogue) = (HashSet::new(), HashSet::new());
    for folder in ["shared", "kernels"] {
        println!("cargo::rerun-if-changed={folder}");
        let to = Path::new(&out).join(folder);
        for lanes in LANES {
            fs::create_dir_all(to.join(lanes.to_string()))?;
        }
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
            let code: String = code.collect();
            let stem = path.file_stem().expect("the name of a file").to_string_lossy().into_owned();
            if code.contains('$') {
                for lanes in LANES {
                    fs::write(to.join(lanes.to_string()).join(name), for_lanes(&code, lanes))?;
                }
                repeating.insert(stem.clone());
            } else {
                fs::write(to.join(name), code)?;
            }
            for structure in source.split("struct ").skip(1).filter_map(|rest| rest.split_once("\n}")) {
                let Some((name, block)) = rust_block(&source, structure.0) else { continue };
                if block.contains("epilogue: Epilogue") {
                    with_epilogue.insert(name.to_owned());
                }
                blocks += &block;
            }
            if folder == "kernels" {
                registry += &kernels(&stem, &source, &repeating, &with_epilogue);
            }
        }
    }
    fs::write(Path::new(&out).join("kernels.rs"), format!("&[{registry}]"))?;
    fs::write(Path::new(&out).join("params.rs"), blocks)
}

/// Lanes that share a tile, which are all invocations of such a kernel's workgroups.
const LANES: [usize; 2] = [4, 8];

/// Returns code with each line that contains `$` once per lane, with the lane's number in its place.
fn for_lanes(code: &str, lanes: usize) -> String {
    let repeat = |line: &str| (0..lanes).map(|lane| line.replace('$', &lane.to_string())).collect::<String>();
    code.lines().map(|line| if line.contains('$') { repeat(line) } else { line.to_owned() } + "\n").collect()
}

/// Structures that Rust fills or reads, besides parameter blocks.
const SHARED: [&str; 4] = ["Step", "Epilogue", "BlockMultipliers", "StepResult"];

/// Returns the registry's entries for the kernels of a file. For each of them, its header has
/// `// kernel "NAME", SIZE invocations:` and the shared parts of the source, besides the step.
fn kernels(file: &str, source: &str, repeating: &HashSet<String>, with_epilogue: &HashSet<String>) -> String {
    let header: String = source.lines().take_while(|line| line.starts_with("//")).collect();
    let params = params_name(source).unwrap_or_else(|| panic!("{file}.wgsl does not name its parameter block"));
    let bindings = source.lines().filter(|line| line.contains("var<storage, "));
    let access = |line: &str| if line.contains("read_write") { "Access::ReadWrite, " } else { "Access::Read, " };
    let storage: String = bindings.map(access).collect();
    let epilogue = with_epilogue.contains(params).then(|| format!("offset_of!(params::{params}, epilogue)"));
    let epilogue = epilogue.map_or_else(|| "None".to_owned(), |offset| format!("Some({offset})"));
    let mut entries = String::new();
    for kernel in header.split("// kernel ").skip(1) {
        let words: Vec<&str> = kernel.split('"').collect();
        let size: String = words[2].chars().filter(char::is_ascii_digit).collect();
        let mut names = words.into_iter().skip(1).step_by(2);
        let name = names.next().expect("a kernel has a name");
        let include = |folder: &str, file: &str| {
            let lanes = if repeating.contains(file) { format!("{size}/") } else { String::new() };
            format!("include_str!(\"{folder}/{lanes}{file}.wgsl\"), ")
        };
        let parts = ["step"].into_iter().chain(names).map(|part| include("shared", part));
        let sources = parts.collect::<String>() + &include("kernels", file);
        entries += &format!(
            "Kernel {{ name: {name:?}, sources: &[{sources}], workgroup_size: {size}, \
             params_bytes: size_of::<params::{params}>(), epilogue_offset: {epilogue}, \
             storage: &[{storage}] }},\n"
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

/// Returns name and Rust twin of a structure in `source`, if it has one. A parameter block is called `Params` in WGSL.
fn rust_block<'a>(source: &'a str, structure: &'a str) -> Option<(&'a str, String)> {
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
    Some((name, block + &reserved_field(&mut reserved) + "}\n"))
}

/// Returns the field for numbers that fill up a block to 16 bytes: single numbers in WGSL, one array in Rust.
fn reserved_field(count: &mut usize) -> String {
    match std::mem::take(count) {
        0 => String::new(),
        1 => "pub reserved: u32,\n".to_owned(),
        count => format!("pub reserved: [u32; {count}],\n"),
    }
}

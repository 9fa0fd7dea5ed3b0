//! Rust's target for the browser.

use crate::build::WASM;
use crate::say;
use anyhow::{Result, bail};
use std::env;
use std::path::Path;
use std::process::Command;

/// Makes sure that Rust can compile for the browser. `rust-toolchain.toml` asks rustup for the target already; this
/// catches toolchains that did not come from rustup, or came before the target was asked for.
pub(crate) fn wasm_target(top: &Path) -> Result<()> {
    if has_wasm_target(top) {
        return Ok(());
    }
    say::step("Installing", format!("Rust's target {WASM} with rustup"));
    let added = Command::new("rustup").args(["target", "add", WASM]).current_dir(top).status();
    if !added.is_ok_and(|status| status.success()) || !has_wasm_target(top) {
        bail!(
            "Rust cannot compile for {WASM}: use the toolchain of rustup and run `rustup target add {WASM}`, or install \
             your distribution's package of that target"
        );
    }
    Ok(())
}

fn has_wasm_target(top: &Path) -> bool {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(["--print", "target-libdir", "--target", WASM]).current_dir(top).output();
    output.is_ok_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
}

//! Wasm module of the page, built by `cargo xtask run`.

#[cfg(target_arch = "wasm32")]
fn main() {
    app::mount();
}

#[cfg(not(target_arch = "wasm32"))]
fn main() {
    eprintln!("The page runs in a browser: `cargo xtask run` builds and serves it.");
    std::process::exit(2);
}

//! Wasm module of the training worker, which Trunk builds with the page.

#[cfg(target_arch = "wasm32")]
fn main() {
    training_worker::start();
}

#[cfg(not(target_arch = "wasm32"))]
fn main() {
    eprintln!("The training worker runs in a browser: `cargo xtask run` builds and serves the page.");
    std::process::exit(2);
}

//! Wasm module of the training worker with Burn, built by `cargo xtask run` after the page.

#[cfg(target_arch = "wasm32")]
fn main() {
    training_worker::start();
}

#[cfg(not(target_arch = "wasm32"))]
fn main() {
    eprintln!("The training worker runs in a browser: `cargo xtask run` builds the page with it and serves them.");
    std::process::exit(2);
}

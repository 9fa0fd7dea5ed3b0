### Backends, and what has to be fetched for them.

backend_wgsl = WGSL (Gradmark)
backend_burn_wgpu = Burn on WebGPU
backend_burn_flex = Burn on the processor
backend_tfjs_webgpu = TensorFlow.js on WebGPU
backend_tfjs_webgl = TensorFlow.js on WebGL
backend_tfjs_wasm = TensorFlow.js on the processor
backend_jax_js_webgpu = jax-js on WebGPU
backend_jax_js_wasm = jax-js on the processor
backend_wgsl_description = Kernels written for these networks; part of this page.
backend_burn_wgpu_description = A Rust framework that generates its own kernels.
backend_tfjs_webgpu_description = Google's JavaScript framework, with kernels for WebGPU. Never ranked.
backend_jax_js_webgpu_description = JAX's programming model in JavaScript, which compiles a whole step. Never ranked.

## Bundles on their way

backend_asking = is being looked for on this server
backend_building = is being built: { $note }
backend_missing = is not on this server: { $note }
backend_unreadable = the server's { $file } cannot be read ({ $why })
backend_built_without = the page was built without it
backend_no_worker = the page does not name its worker (<meta name="{ $name }">); `cargo xtask run` rebuilds the page
backend_from_cache = { $what }: { $size } from the browser's cache and started in { $seconds } s.
backend_from_server = { $what }: { $size } fetched and started in { $seconds } s.
backend_obstacle = { $backend } { $why }.
backend_obstacle_it = It { $why }.
backend_to_fetch = { $size } to fetch.
backend_cannot_train = { $backend } cannot train { $workload }: { $reason }.
backend_trains_some = Trains { $some } of the { $all } selected networks.

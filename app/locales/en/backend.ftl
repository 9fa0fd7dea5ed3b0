### Backends, and what has to be fetched for them.

backend_wgsl = Our WGSL kernels
backend_burn_wgpu = Burn on WebGPU
backend_burn_flex = Burn on the processor
backend_tfjs_webgpu = TensorFlow.js on WebGPU
backend_tfjs_webgl = TensorFlow.js on WebGL
backend_tfjs_wasm = TensorFlow.js on the processor
backend_jax_js_webgpu = jax-js on WebGPU
backend_jax_js_wasm = jax-js on the processor
backend_wgsl_description = Kernels written for these networks; part of this page.
backend_burn_wgpu_description = An established framework that generates its own kernels.
backend_burn_flex_description = The same framework without your GPU, on one core.
backend_tfjs_webgpu_description = Google's JavaScript framework, with kernels for WebGPU. Shown for comparison, never
    ranked.
backend_tfjs_webgl_description = The same framework on an older interface, without WebGPU.
backend_tfjs_wasm_description = The same framework in WebAssembly, which cannot train convolutions.
backend_jax_js_webgpu_description = JAX's programming model in JavaScript, which compiles a whole step. Never ranked.
backend_jax_js_wasm_description = The same framework in WebAssembly.

## Bundles on their way

backend_asking = is being looked for on this server
backend_building = is being built: { $note }
backend_missing = is not on this server: { $note }
backend_unreadable = the server's { $file } cannot be read ({ $why })
backend_no_plain_folder = the name of its folder is invalid
backend_built_without = its page was built without it
backend_without_burn = its page has no information about Burn
backend_without_frameworks = its page has no information about other frameworks
backend_no_worker = the page does not name its worker (<meta name="{ $name }">), so its build is incomplete;
    `cargo xtask run` rebuilds it
backend_fetching = { $what } is being fetched.
backend_compiling = { $what } is being compiled.
backend_arriving = { $what }: { $percent } fetched.
backend_size = { $compressed } ({ $unpacked } unpacked)
backend_size_unpacked = { $unpacked } unpacked
backend_from_cache = { $what }: { $size } from the browser's cache and started in { $seconds } s.
backend_from_server = { $what }: { $size } fetched and started in { $seconds } s.
backend_obstacle = { $backend } { $why }.
backend_obstacle_it = It { $why }.
backend_more_to_fetch = { $size } more to fetch.
backend_to_fetch = { $size } to fetch.
backend_part_of_page = Part of this page.
backend_cannot_train = { $backend } cannot train { $workload }: { $reason }.
backend_left_out = { $workload } is left out: { $reason }.

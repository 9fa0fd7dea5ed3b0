### Backends und was dafür geladen werden muss.

backend_wgsl = WGSL (Gradmark)
backend_burn_wgpu = Burn auf WebGPU
backend_burn_flex = Burn auf dem Prozessor
backend_tfjs_webgpu = TensorFlow.js auf WebGPU
backend_tfjs_webgl = TensorFlow.js auf WebGL
backend_tfjs_wasm = TensorFlow.js auf dem Prozessor
backend_jax_js_webgpu = jax-js auf WebGPU
backend_jax_js_wasm = jax-js auf dem Prozessor
backend_wgsl_description = Kernel eigens für diese Netze; Teil dieser Seite.
backend_burn_wgpu_description = Ein Framework in Rust, das seine Kernel selbst erzeugt.
backend_tfjs_webgpu_description = Googles JavaScript-Framework, mit Kerneln für WebGPU. Wird nie gewertet.
backend_jax_js_webgpu_description = Das Programmiermodell von JAX in JavaScript; übersetzt einen ganzen Schritt. Wird
    nie gewertet.

## Pakete auf dem Weg

backend_asking = wird auf diesem Server gesucht
backend_building = wird gerade gebaut: { $note }
backend_missing = fehlt auf diesem Server: { $note }
backend_unreadable = { $file } auf dem Server ist nicht lesbar ({ $why })
backend_built_without = die Seite wurde ohne das gebaut
backend_no_worker = die Seite nennt ihren Worker nicht (<meta name="{ $name }">); `cargo xtask run` baut sie neu
backend_from_cache = { $what }: { $size } aus dem Cache des Browsers, nach { $seconds } s gestartet.
backend_from_server = { $what }: { $size } heruntergeladen und nach { $seconds } s gestartet.
backend_obstacle = { $backend } { $why }.
backend_obstacle_it = Es { $why }.
backend_to_fetch = Download: { $size }.
backend_cannot_train = { $backend } kann { $workload } nicht trainieren: { $reason }.
backend_trains_some = Trainiert { $some } der { $all } gewählten Netze.

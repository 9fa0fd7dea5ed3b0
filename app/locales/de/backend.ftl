### Backends und was dafür geladen werden muss.

backend_wgsl = Unsere WGSL-Kernel
backend_burn_wgpu = Burn auf WebGPU
backend_burn_flex = Burn auf dem Prozessor
backend_tfjs_webgpu = TensorFlow.js auf WebGPU
backend_tfjs_webgl = TensorFlow.js auf WebGL
backend_tfjs_wasm = TensorFlow.js auf dem Prozessor
backend_jax_js_webgpu = jax-js auf WebGPU
backend_jax_js_wasm = jax-js auf dem Prozessor
backend_wgsl_description = Für diese Netze geschrieben; Teil dieser Seite.
backend_burn_wgpu_description = Ein etabliertes Framework mit Kerneln, die es selbst erzeugt.
backend_burn_flex_description = Dasselbe Framework ohne GPU, auf einem Kern.
backend_tfjs_webgpu_description = Googles Framework für JavaScript, mit Kerneln für WebGPU. Steht neben unseren,
    wird nie gewertet.
backend_tfjs_webgl_description = Dasselbe mit Shadern für eine ältere Schnittstelle, ohne WebGPU.
backend_tfjs_wasm_description = Dasselbe in WebAssembly, kann keine Faltungen trainieren.
backend_jax_js_webgpu_description = Die Schreibweise von JAX in JavaScript; übersetzt einen ganzen Schritt. Wird
    ebenfalls nie gewertet.
backend_jax_js_wasm_description = Dasselbe in WebAssembly.

## Pakete auf dem Weg

backend_asking = wird auf diesem Server gesucht
backend_building = wird gerade gebaut: { $note }
backend_missing = fehlt auf diesem Server: { $note }
backend_unreadable = { $file } des Servers lässt sich nicht lesen ({ $why })
backend_no_plain_folder = der Ordner hat keinen einfachen Namen
backend_built_without = seine Seite wurde ohne das gebaut
backend_without_burn = seine Seite enthält keine Angabe zu Burn
backend_without_frameworks = seine Seite enthält keine Angabe zu anderen Frameworks
backend_no_worker = die Seite verrät nicht, wo ihr Worker ist (<meta name="{ $name }">), wurde also nicht
    vollständig zusammengesetzt; `cargo xtask run` baut sie neu
backend_fetching = { $what } wird geladen.
backend_compiling = { $what } wird übersetzt.
backend_arriving = { $what }: { $percent } sind da.
backend_size = { $compressed } (entpackt { $unpacked })
backend_size_unpacked = entpackt { $unpacked }
backend_from_cache = { $what }: { $size } aus dem Cache des Browsers, in { $seconds } s gestartet.
backend_from_server = { $what }: { $size } geladen, in { $seconds } s gestartet.
backend_obstacle = { $backend } { $why }.
backend_obstacle_it = Es { $why }.
backend_more_to_fetch = Weitere { $size } zu laden.
backend_to_fetch = { $size } zu laden.
backend_part_of_page = Teil dieser Seite.
backend_cannot_train = { $backend } kann { $workload } nicht trainieren: { $reason }.
backend_left_out = { $workload } wird ausgelassen: { $reason }.

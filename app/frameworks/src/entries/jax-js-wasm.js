import { processor } from "../devices.js";
import { open } from "../jax.js";
import { serve } from "../worker.js";

serve(open("wasm", { named: processor }));

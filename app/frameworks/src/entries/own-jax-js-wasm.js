import { processor } from "../devices.js";
import { open } from "../jax.js";
import { serve } from "../own/compare.js";
import { own } from "../own/jax.js";

serve(open("wasm", { named: processor }), own);

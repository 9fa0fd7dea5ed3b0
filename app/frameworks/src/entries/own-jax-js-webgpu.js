import { getWebGPUDevice } from "@jax-js/jax";
import { faultsOf, gpu } from "../devices.js";
import { open } from "../jax.js";
import { serve } from "../own/compare.js";
import { own } from "../own/jax.js";

serve(open("webgpu", { named: gpu, faults: () => faultsOf(getWebGPUDevice()) }), own);

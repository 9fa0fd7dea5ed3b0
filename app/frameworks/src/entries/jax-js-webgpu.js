import { getWebGPUDevice } from "@jax-js/jax";
import { faultsOf, gpu } from "../devices.js";
import { open } from "../jax.js";
import { serve } from "../worker.js";

serve(open("webgpu", { named: gpu, faults: () => faultsOf(getWebGPUDevice()) }));

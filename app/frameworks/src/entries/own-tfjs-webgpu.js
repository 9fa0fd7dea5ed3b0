import "@tensorflow/tfjs-backend-webgpu";
import { faultsOf, gpu } from "../devices.js";
import { open } from "../tensorflow.js";
import { serve } from "../own/compare.js";
import { own } from "../own/tensorflow.js";

serve(open("webgpu", { named: gpu, faults: (backend) => faultsOf(backend.device) }), own);

import "@tensorflow/tfjs-backend-webgpu";
import { faultsOf, gpu } from "../devices.js";
import { open } from "../tensorflow.js";
import { serve } from "../worker.js";

serve(open("webgpu", { named: gpu, faults: (backend) => faultsOf(backend.device) }));

import "@tensorflow/tfjs-backend-webgl";
import { renderer } from "../devices.js";
import { open } from "../tensorflow.js";
import { serve } from "../own/compare.js";
import { own } from "../own/tensorflow.js";

serve(open("webgl", { named: (backend) => renderer(backend.getGPGPUContext().gl) }), own);

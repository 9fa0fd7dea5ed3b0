import { setWasmPaths } from "@tensorflow/tfjs-backend-wasm";
import { processor } from "../devices.js";
import { open } from "../tensorflow.js";
import { serve } from "../worker.js";

// The modules that the browser selects from are in this script's folder.
setWasmPaths(self.location.href.replace(/[^/]*$/, ""));
serve(open("wasm", { named: processor }));

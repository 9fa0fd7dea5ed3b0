import { setWasmPaths } from "@tensorflow/tfjs-backend-wasm";
import { processor } from "../devices.js";
import { open } from "../tensorflow.js";
import { serve } from "../own/compare.js";
import { own } from "../own/tensorflow.js";

// The modules that the browser selects from are in this script's folder.
setWasmPaths(self.location.href.replace(/[^/]*$/, ""));
serve(open("wasm", { named: processor }), own);

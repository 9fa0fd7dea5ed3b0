import "@tensorflow/tfjs-backend-cpu";
import { processor } from "../devices.js";
import { open } from "../tensorflow.js";
import { serve } from "../worker.js";

serve(open("cpu", { named: processor }));

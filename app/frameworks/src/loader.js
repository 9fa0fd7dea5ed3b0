// Starts a framework's worker. It is in the same folder as the script that it loads, so that the browser reports the
// script's size and transfer.
importScripts("worker.js");

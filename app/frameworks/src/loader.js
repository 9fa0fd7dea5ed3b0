// Starts a framework's worker. It lies in one folder with the script that it loads, so that the browser tells how large that
// was and how it came.
importScripts("worker.js");

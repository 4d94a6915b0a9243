// Preloaded by tests that measure what a process holds: garbage does not count.
setInterval(() => globalThis.gc?.(), 250).unref();

import { parentPort } from 'node:worker_threads';
import { createSystemClock } from './clock.ts';
import { createOutbound } from './http/outbound.ts';
import { serveThread } from './http/outbound-thread-server.ts';

// Loaded before it says that it is ready: the first requests would have to wait for it.
await import('undici');

/** The thread that sends many requests at once (see `http/outbound-thread.ts`), with the very guard of the main thread. */
if (parentPort !== null) serveThread(parentPort, createOutbound({ clock: createSystemClock() }));

import { createServer } from 'node:http';

/*
 * Loaded into a site before its own code (`--import`): measures what the event loop does without a pause, in processor time of its
 * thread, since wall time says how busy the machine is. Prints `Slices on <address>`; a request there answers the milliseconds
 * of the longest slice since the last request.
 */

/** Node 22 measures all threads only. */
const used = (): number => {
  const { user, system } = process.threadCpuUsage?.() ?? process.cpuUsage();
  return (user + system) / 1_000;
};

let last = used();
let longest = 0;

// A timer that is due runs once in each round of the loop.
setInterval(() => {
  const now = used();
  longest = Math.max(longest, now - last);
  last = now;
}, 1).unref();

const server = createServer((_request, response) => {
  // What ran in this round counts with the next.
  const answer = longest;
  longest = 0;
  response.end(String(answer));
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object')
    process.stdout.write(`Slices on http://127.0.0.1:${String(address.port)}\n`);
});
server.unref();

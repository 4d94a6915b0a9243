// @ts-check
import { channel } from 'node:diagnostics_channel';
import { relative } from 'node:path';
import { afterEach, beforeEach } from 'node:test';

/** Test hosts that are open add a sentence to the array that is published here. */
export const openHosts = channel('svc:open-test-hosts');

/** What Node calls that which keeps a process alive, for people. */
const names = /** @type {Readonly<Record<string, string>>} */ ({
  Timeout: 'timer',
  TCPServerWrap: 'server',
  TCPSocketWrap: 'connection',
  ProcessWrap: 'process',
  MessagePort: 'thread',
});

/**
 * Ends the process of a test file after the limit, and prints what runs and what is open.
 *
 * @param {number} seconds
 */
export function endAfter(seconds) {
  /** @type {Set<string>} */
  const running = new Set();
  const nameOf = /** @param {object} test */ (test) => ('name' in test ? String(test.name) : '');
  beforeEach((test) => void running.add(nameOf(test)));
  afterEach((test) => void running.delete(nameOf(test)));
  AbortSignal.timeout(seconds * 1_000).addEventListener('abort', () => {
    const file = relative(process.cwd(), process.argv[1] ?? '');
    console.error(`${file} did not end within ${seconds} seconds.\n${[...describe(running)].join('\n')}`);
    process.exit(1);
  });
}

/**
 * @param {ReadonlySet<string>} running names of tests.
 * @returns {Generator<string, void>}
 */
function* describe(running) {
  const tests = [...running].map((name) => `'${name}'`).join(', ');
  yield tests === '' ? 'No test runs, so a hook such as before or after has not ended.' : `Running: ${tests}.`;
  /** @type {string[]} */
  const sentences = [];
  openHosts.publish(sentences);
  yield* sentences;
  /** @type {Map<string, number>} */
  const counts = new Map();
  // The pipes are those of the standard streams.
  for (const name of process.getActiveResourcesInfo().filter((each) => each !== 'PipeWrap'))
    counts.set(name, (counts.get(name) ?? 0) + 1);
  const open = [...counts].map(([name, count]) => `${count} × ${names[name] ?? name}`).join(', ');
  if (open !== '') yield `Open: ${open}.`;
}

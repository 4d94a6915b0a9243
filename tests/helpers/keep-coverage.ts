import { appendFileSync } from 'node:fs';

/** File that each process with tests adds its id to, when it records its coverage. Set by `tests/quality/coverage.ts`. */
export const recordingFileName = 'COVERAGE_PROCESSES';

/**
 * Before the tests of a process whose coverage is recorded: only the processes with tests record what they run. Sites,
 * commands and threads that tests start would write tens of megabytes each and run twice as long. A worker of mocha's
 * writes its record while it ends, for longer than the second after which mocha sends SIGTERM, which would end it halfway.
 */
export function keepCoverage(): void {
  const processes = process.env[recordingFileName];
  if (process.env['NODE_V8_COVERAGE'] === undefined || processes === undefined) return;
  delete process.env['NODE_V8_COVERAGE'];
  process.on('SIGTERM', () => undefined);
  appendFileSync(processes, `${String(process.pid)}\n`);
}

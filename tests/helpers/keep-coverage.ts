/**
 * Under c8, before the tests of a process: only the processes with tests record what they run. Sites, commands and threads
 * that tests start would write tens of megabytes each and run twice as long. A worker of mocha's that takes more than a
 * second to write its record is sent SIGTERM, which would end it halfway.
 */
export function keepCoverage(): void {
  if (process.env['NODE_V8_COVERAGE'] === undefined) return;
  delete process.env['NODE_V8_COVERAGE'];
  process.on('SIGTERM', () => undefined);
}

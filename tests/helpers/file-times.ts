import { appendFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** What one test file took, its loading included. */
export interface FileTime {
  /** Relative to the checkout. */
  readonly file: string;
  readonly seconds: number;
  /** Processor time of the process that ran it; processes that it started and PostgreSQL are not counted. */
  readonly processorSeconds: number;
}

/** Folder that each process with tests writes its lines to. Set by `tests/run.ts`. */
export const timesFolderName = 'TEST_TIMES_FOLDER';

let began = performance.now() - process.uptime() * 1_000;
let used = process.cpuUsage({ user: 0, system: 0 });

/** For `mochaHooks` of processes that run files one after the other: notes what each took. */
export function noteFileTime(this: Mocha.Context): void {
  const folder = process.env[timesFolderName];
  const file = this.test?.parent?.suites[0]?.file;
  const now = performance.now();
  const { user, system } = process.cpuUsage();
  if (folder !== undefined && file !== undefined) {
    const time: FileTime = {
      file: relative(process.cwd(), file),
      seconds: (now - began) / 1_000,
      processorSeconds: (user - used.user + system - used.system) / 1_000_000,
    };
    appendFileSync(join(folder, `${String(process.pid)}.jsonl`), `${JSON.stringify(time)}\n`);
  }
  began = now;
  used = { user, system };
}

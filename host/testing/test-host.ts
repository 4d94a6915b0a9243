import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Clock, ContentApi, CronApi } from '#plugin-api';
import { readConfig } from '../config.ts';
import { createHost, type Host } from '../host.ts';
import { createFakeClock, type FakeClock } from './fake-clock.ts';

export interface TestHostInit {
  /** Slugs of the plugins to run; no other is looked at. `found`: every plugin in the folders, active as the site has it. Default none. */
  readonly plugins?: readonly string[] | 'found';
  /** Folders searched for them, absolute or relative to the working folder. Default: the plugins that ship with the host. */
  readonly pluginDirs?: readonly string[];
  /** `postgres://...`, or the absolute path of a folder for SQLite. Default: SQLite in memory. */
  readonly database?: string;
  /** Default: a fake clock at 2026-01-01T00:00:00Z whose sleeps pass at once. */
  readonly clock?: Clock;
  /** Variables of the operator contract. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface TestHost extends Pick<
  Host,
  'hooks' | 'options' | 'rest' | 'users' | 'database' | 'secrets' | 'site' | 'plugins' | 'log'
> {
  /** Address without a slash at its end; the host listens on a free port of the loopback. */
  readonly url: string;
  readonly cron: CronApi & Pick<Host['cron'], 'runDue' | 'run' | 'history'>;
  readonly content: ContentApi;
  /** The clock given, or the fake one. */
  readonly clock: FakeClock;
  /** The one-time link of the first-run setup, while there is no administrator. */
  readonly setupLink: string | null;
  /** Lines written to the log so far. */
  readonly logged: readonly string[];
  /** Real HTTP to the host. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Runs a command line in the host's process. */
  cli(...argv: string[]): Promise<{ readonly code: 0 | 1; readonly out: string; readonly err: string }>;
  stop(): Promise<void>;
}

/** One for all hosts of a process: to make keys of it costs more than all the rest of many a start. */
const secretKey = randomBytes(32).toString('hex');

/**
 * A whole host for tests: real HTTP, real database, real plugins; in memory and on a clock of its own unless told
 * otherwise. Any number of them run side by side in one process.
 */
export async function createTestHost({
  plugins = [],
  pluginDirs,
  database,
  clock = createFakeClock({ skipSleeps: true }),
  env = {},
}: TestHostInit = {}): Promise<TestHost> {
  const logged: string[] = [];
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const isUrl = database?.includes('://') ?? false;
  const host = await createHost({
    clock,
    write: (line) => void logged.push(line),
    ...(plugins !== 'found' && { only: plugins }),
    config: {
      ...readConfig({ PORT: '0', SECRET_KEY: secretKey, LOG_LEVEL: 'debug', ...env }, root),
      dataDir: env['DATA_DIR'] ?? (isUrl ? ':memory:' : (database ?? ':memory:')),
      databaseUrl: isUrl ? (database ?? null) : null,
      ...(pluginDirs && { pluginDirs: pluginDirs.map((directory) => resolve(directory)) }),
    },
  });
  try {
    const { url, setupLink } = await host.start();
    return {
      ...host,
      content: host.content.api,
      clock: clock as FakeClock,
      url,
      setupLink,
      logged,
      fetch: (path, init) => fetch(new URL(path, url), init),
      cli: async (...argv) => {
        const said = { out: '', err: '' };
        const code = await host.cli.run(argv, {
          out: (text) => (said.out += `${text}\n`),
          err: (text) => (said.err += `${text}\n`),
        });
        return { code, ...said };
      },
      stop: () => host.stop(),
    };
  } catch (error) {
    await host.stop();
    throw error;
  }
}

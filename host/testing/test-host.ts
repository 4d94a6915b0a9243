import { randomBytes } from 'node:crypto';
import { channel } from 'node:diagnostics_channel';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CliCommand, Clock, ContentApi, CronApi, ServicesApi } from '#plugin-api';
import { createSystemClock } from '../clock.ts';
import { readConfig } from '../start/config.ts';
import type { PluginFolders } from '../log/plugin-folders.ts';
import { createHost, type Host } from '../host.ts';
import { createFakeClock, type FakeClock } from './fake-clock.ts';
import { signIn, type SignedIn } from './sign-in.ts';

export interface TestHostInit {
  /** Slugs of the plugins to load and activate. `found`: all plugins in the folders, active as stored. Default none. */
  readonly plugins?: readonly string[] | 'found';
  /**
   * Plugin folders, absolute or relative to the working folder. Plugins that ship with the host are found after them if `plugins`
   * names them. Default: the plugins shipped with the host.
   */
  readonly pluginDirs?: readonly string[];
  /** `postgres://...`, or the absolute path of a folder for SQLite. Default: SQLite in memory. */
  readonly database?: string;
  /** A whole SQLite database to start from in memory, as `serialize()` of better-sqlite3 returns it. Default: an empty one. */
  readonly databaseImage?: Buffer;
  /** Default: a fake clock at 2026-01-01T00:00:00Z whose sleeps return at once. */
  readonly clock?: Clock;
  /** Variables of the operator contract. */
  readonly env?: Readonly<Record<string, string>>;
  /** See HostInit. */
  readonly pluginFolders?: PluginFolders;
}

export interface TestHost extends Pick<
  Host,
  | 'abilities'
  | 'hooks'
  | 'options'
  | 'rest'
  | 'users'
  | 'database'
  | 'secrets'
  | 'site'
  | 'plugins'
  | 'log'
  | 'mail'
  | 'accounts'
  | 'documents'
  | 'jobs'
  | 'config'
  | 'formerKeys'
  | 'securityLog'
  | 'twoFactor'
  | 'translations'
> {
  /** Slugs of the admin pages of a plugin. */
  adminPages(owner: string): readonly string[];
  /** The commands of the plugins. */
  commands(): Promise<readonly CliCommand[]>;
  /** Names of the shortcodes. */
  shortcodes(): readonly string[];
  /** URL without a trailing slash; the host listens on a free loopback port. */
  readonly url: string;
  readonly cron: CronApi & Pick<Host['cron'], 'runDue' | 'run' | 'history'>;
  readonly content: ContentApi;
  /** The services of the plugins, and those that a test provides under `test`. */
  readonly services: ServicesApi;
  /** The clock given, or the fake one. */
  readonly clock: FakeClock;
  /** The one-time setup link, while there is no administrator. */
  readonly setupLink: string | null;
  /** Lines written to the log so far. */
  readonly logged: readonly string[];
  /** Real HTTP to the host. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Signs in as a user of the role, whom it creates, to open admin pages and submit their forms. Default: `administrator`. */
  signIn(role?: string): Promise<SignedIn>;
  /** Runs a CLI command in the host's process. */
  cli(...argv: string[]): Promise<{ readonly code: 0 | 1; readonly out: string; readonly err: string }>;
  /**
   * Stops the host. A fake clock does not hold it up: what still waits for the time two seconds later, such as a limit, sees it
   * run ten times as fast as real time.
   */
  stop(): Promise<void>;
}

/** Shared by all hosts of a process: deriving keys takes longer than the rest of a start. */
const secretKey = randomBytes(32).toString('hex');

/**
 * A whole host for tests: real HTTP, real database, real plugins; in memory and with its own clock by default.
 * Any number of them can run in one process.
 */
export async function createTestHost({
  plugins = [],
  pluginDirs,
  database,
  databaseImage,
  clock = createFakeClock({ skipSleeps: true }),
  env = {},
  pluginFolders,
}: TestHostInit = {}): Promise<TestHost> {
  const logged: string[] = [];
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const isUrl = database?.includes('://') ?? false;
  const host = await createHost({
    clock,
    write: (line) => void logged.push(line),
    ...(pluginFolders && { pluginFolders }),
    ...(databaseImage && { databaseImage }),
    ...(plugins !== 'found' && { only: plugins }),
    config: {
      ...readConfig({ PORT: '0', SECRET_KEY: secretKey, LOG_LEVEL: 'debug', ...env }, root),
      dataDir: env['DATA_DIR'] ?? (isUrl ? ':memory:' : (database ?? ':memory:')),
      databaseUrl: isUrl ? (database ?? null) : null,
      ...(pluginDirs && {
        pluginDirs: [
          ...pluginDirs.map((directory) => resolve(directory)),
          ...(plugins === 'found' ? [] : [resolve(root, 'plugins')]),
        ],
      }),
    },
  });
  const announced = announce(plugins);
  const stop = async (): Promise<void> => {
    announced.state = 'and its stop() has not ended';
    await stopHost(host, clock);
    announced.undo();
  };
  try {
    const { url, setupLink } = await host.start();
    const open: TestHost['fetch'] = (path, init) => fetch(new URL(path, url), init);
    return {
      ...host,
      content: host.content.api,
      services: host.services.forOwner('test'),
      adminPages: (owner) => host.admin.slugs(owner),
      commands: () => host.cli.list(),
      shortcodes: () => host.content.shortcodeTags(),
      clock: clock as FakeClock,
      url,
      setupLink,
      logged,
      fetch: open,
      signIn: (role = 'administrator') => signIn({ users: host.users, fetch: open }, role),
      cli: async (...argv) => {
        const output = { out: '', err: '' };
        const code = await host.cli.run(argv, {
          out: (text) => (output.out += `${text}\n`),
          err: (text) => (output.err += `${text}\n`),
        });
        return { code, ...output };
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Lets the time limit of `plugin test` name a host that is open; see `time-limit.js`. */
function announce(plugins: NonNullable<TestHostInit['plugins']>): { state: string; readonly undo: () => void } {
  const openHosts = channel('svc:open-test-hosts');
  const named = plugins === 'found' ? 'all plugins' : plugins.join(', ') || 'no plugins';
  const announced = {
    state: 'and was not stopped',
    undo: () => void openHosts.unsubscribe(describe),
  };
  const describe = (sentences: unknown): void =>
    void (sentences as string[]).push(`A test host with ${named} is open ${announced.state}.`);
  openHosts.subscribe(describe);
  return announced;
}

const systemClock = createSystemClock();
/** Milliseconds of real time that a host gets to stop while its fake clock does not move, and between two advances after it. */
const stopWithin = 2_000;
const advanceInterval = 20;
const stopSpeed = 10;

/** Stops the host, and lets its fake clock run when it waits for the time. */
async function stopHost(host: Pick<Host, 'stop'>, clock: Clock | FakeClock): Promise<void> {
  const stopping = host.stop();
  if (!('advance' in clock)) return stopping;
  const stopped = new AbortController();
  const ended = stopping.finally(() => {
    stopped.abort();
  });
  const wait = (milliseconds: number) => systemClock.sleep(milliseconds, stopped.signal).catch(() => undefined);
  for (await wait(stopWithin); !stopped.signal.aborted; await wait(advanceInterval))
    await clock.advance(advanceInterval * stopSpeed);
  return ended;
}

import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const checkout = fileURLToPath(new URL('../..', import.meta.url));

export interface RunningSite {
  readonly url: string;
  readonly dataDir: string;
  readonly process: ChildProcess;
  /** Everything printed so far, both streams. */
  output(): string;
  /** Waits for a match in the output. */
  waitFor(pattern: RegExp): Promise<RegExpMatchArray>;
  /** Runs `npm run cli -- ...args` beside the site; answers what it printed. Rejects with its error text. */
  cli(...args: string[]): Promise<string>;
  /** Stops with SIGTERM and removes the data folder; answers the exit code. */
  stop(): Promise<number | null>;
}

/** What `npm start` or `npm run cli` passes to Node: its flags, then the file. */
export async function scriptArguments(script: 'start' | 'cli'): Promise<string[]> {
  const { scripts } = JSON.parse(await readFile(join(checkout, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<typeof script, string>>;
  };
  return scripts[script].split(' ').slice(1);
}

/** How a site is run: the folder that it is started in, the script that starts it, and the one of its commands. */
export interface Installation {
  readonly folder: string;
  readonly start: readonly string[];
  readonly cli: readonly string[];
}

const ofCheckout: Installation = { folder: checkout, start: ['host/main.js'], cli: ['host/cli/main.js'] };

/** Starts the site as an operator does, on a free port and an empty data folder. @param flags of node */
export async function startSite(
  env: Record<string, string> = {},
  flags: readonly string[] = [],
  installation = ofCheckout,
): Promise<RunningSite> {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-site-'));
  const environment = {
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '',
    PORT: '0',
    DATA_DIR: dataDir,
    ...env,
  };
  const child = spawn(process.execPath, [...flags, ...installation.start], {
    cwd: installation.folder,
    env: environment,
  });
  let printed = '';
  const watchers = new Set<() => void>();
  const note = (chunk: Buffer): void => {
    printed += chunk.toString();
    for (const watcher of watchers) watcher();
  };
  child.stdout.on('data', note);
  child.stderr.on('data', note);
  // Not with `exit`: on a busy machine what it printed may come after that.
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));

  const waitFor = (pattern: RegExp): Promise<RegExpMatchArray> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const match = pattern.exec(printed);
        if (match) {
          watchers.delete(look);
          resolve(match);
        }
      };
      watchers.add(look);
      look();
      void ended.then((code) => {
        reject(new Error(`The site ended with code ${code} before it printed ${pattern}:\n${printed}`));
      });
    });

  const [, url = ''] = await waitFor(/(?:Ready on|Bereit unter) (http:\S+)/);
  return {
    url,
    dataDir,
    process: child,
    output: () => printed,
    waitFor,
    cli: (...args) => runCli(args, { ...environment, SITE_URL: env.SITE_URL ?? url }, installation),
    stop: async () => {
      child.kill('SIGTERM');
      const code = await ended;
      await rm(dataDir, { recursive: true, force: true });
      return code;
    },
  };
}

/** Runs one command of the project's command line; answers its standard output, rejects with its standard error. */
export function runCli(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  { cli, folder }: Pick<Installation, 'cli' | 'folder'> = ofCheckout,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...cli, ...args], { cwd: folder, env });
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    child.once('close', (code) => {
      if (code === 0) resolve(out);
      else reject(new Error((err || `exit code ${code}`) + out));
    });
  });
}

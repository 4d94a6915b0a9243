import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const checkout = fileURLToPath(new URL('../../..', import.meta.url));

export interface Child {
  readonly pid: number;
  /** First capture of the pattern that told it is ready, or its whole match. */
  readonly ready: string;
  /** Milliseconds from spawn to that line. */
  readonly readyAfter: number;
  output(): string;
  /** SIGTERM to the process and all it started, SIGKILL after ten seconds. */
  stop(): Promise<void>;
}

export interface ChildInit {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Printed by the process when it is ready. */
  readonly ready: RegExp;
  /** Seconds it may take. Default 30. */
  readonly patience?: number;
}

/** The environment benchmarks run under: what a program needs, nothing of the developer's. */
export function cleanEnvironment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const { PATH = '', HOME = '', NODE_EXTRA_CA_CERTS } = process.env;
  // Without its own certificates npm would try for minutes where a registry is behind a proxy.
  return { PATH, HOME, NODE_ENV: 'production', ...(NODE_EXTRA_CA_CERTS && { NODE_EXTRA_CA_CERTS }), ...more };
}

/** Starts a process of its own group and waits for its ready line. */
export async function startChild({
  command,
  args,
  cwd = checkout,
  env = {},
  ready,
  patience = 30,
}: ChildInit): Promise<Child> {
  const started = performance.now();
  const child = spawn(command, args, { cwd, env: cleanEnvironment(env), detached: true });
  const pid = child.pid ?? 0;
  let printed = '';
  const ended = new Promise<void>((resolve) =>
    child.once('exit', () => {
      resolve();
    }),
  );
  const stop = async (): Promise<void> => {
    signalGroup(pid, 'SIGTERM');
    const timer = setTimeout(() => {
      signalGroup(pid, 'SIGKILL');
    }, 10_000);
    await ended;
    clearTimeout(timer);
  };
  const line = new Promise<string>((resolve, reject) => {
    const fail = (why: string): void => {
      reject(new Error(`${command} ${args.join(' ')} ${why}:\n${printed.slice(-2000)}`));
    };
    const timer = setTimeout(() => {
      fail(`was not ready after ${String(patience)} s`);
    }, patience * 1000);
    const note = (chunk: Buffer): void => {
      printed += chunk.toString();
      const match = ready.exec(printed);
      if (!match) return;
      clearTimeout(timer);
      resolve(match[1] ?? match[0]);
    };
    child.stdout.on('data', note);
    child.stderr.on('data', note);
    child.once('error', (error) => {
      fail(`could not be started (${error.message})`);
    });
    child.once('exit', (code) => {
      fail(`ended with code ${String(code)}`);
    });
  });
  try {
    const found = await line;
    return { pid, ready: found, readyAfter: performance.now() - started, output: () => printed, stop };
  } catch (error) {
    signalGroup(pid, 'SIGKILL');
    throw error;
  }
}

/** Runs a process to its end; answers its output, throws it when it fails. */
export function runToEnd(
  command: string,
  args: readonly string[],
  init: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: init.cwd ?? checkout,
      env: cleanEnvironment(init.env),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    let printed = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      printed += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(output);
      else
        reject(
          new Error(`${command} ${args.join(' ')} ended with code ${String(code)}: ${printed.trim().slice(-1000)}`),
        );
    });
  });
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended already.
  }
}

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface Reading {
  /** Objects in the heap, functions, arrays and maps among them; code and what the engine keeps for itself are not. */
  readonly objects: number;
  /** Bytes of the heap and of what it holds outside, compiled code included, which grows as functions turn hot. */
  readonly bytes: number;
}

/** What one plugin left on a host over many rounds of activation. */
export interface RoundsReport {
  /** What the host has registered, as JSON: while the plugin is active, before the first round and after the last. */
  readonly during: string;
  readonly before: string;
  readonly after: string;
  /** After the first rounds, and after all of them. */
  readonly readings: readonly Reading[];
}

export interface RoundsInit {
  /** Absolute path of a plugin folder. */
  readonly folder: string;
  readonly slug: string;
  /** Rounds before the first reading, when all that is kept once is there. */
  readonly first: number;
  readonly last: number;
}

/** Takes a plugin through rounds of activation in a process of its own, whose heap nothing else fills. */
export function runRounds({ folder, slug, first, last }: RoundsInit): Promise<RoundsReport> {
  const file = fileURLToPath(new URL('../fixtures/activation-rounds.ts', import.meta.url));
  // Code is kept once it is there; else that of the start is given up somewhere between the readings, two megabytes of it.
  const flags = ['--expose-gc', '--no-flush-bytecode'];
  const child = spawn(process.execPath, [...flags, file, folder, slug, String(first), String(last)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(JSON.parse(out) as RoundsReport);
      else reject(new Error(`The rounds ended with code ${String(code)}: ${said}`));
    });
  });
}

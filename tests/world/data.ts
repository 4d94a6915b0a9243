import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where the data of others is looked for when `WORLD_DATA` names no folder. */
const besideCheckout = fileURLToPath(new URL('../../../shared/corpora', import.meta.url));

/** The folder of one kind of data, or null when it is not there. */
export function findData(kind: string, env: NodeJS.ProcessEnv = process.env): string | null {
  const folder = join(env['WORLD_DATA'] ?? besideCheckout, kind);
  return existsSync(folder) ? folder : null;
}

/** The rows of a file with one JSON value a line. */
export function readRows<Row>(folder: string, file: string): Row[] {
  return readFileSync(join(folder, file), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row);
}

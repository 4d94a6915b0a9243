import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { Row } from './dialects/dialect.ts';

export const backupFormat = 'svc-backup';

export const isSqliteFileName = (file: string): boolean => /\.(sqlite3?|db)$/i.test(file);

/** One step of reading a backup: a table begins, or rows of the table that began last. */
export type BackupPart = { readonly table: string } | { readonly rows: readonly Row[] };

/** JSON has no binary type: bytes are encoded as `{"$binary": base64}`. */
export function encodeRow(row: Row, columns: readonly string[]): unknown[] {
  return columns.map((column) => {
    const value = row[column];
    return value instanceof Uint8Array ? { $binary: Buffer.from(value).toString('base64') } : (value ?? null);
  });
}

function decodeValue(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { $binary } = value as { $binary?: unknown };
  // Other objects come from JSON columns and are restored as JSON text.
  return typeof $binary === 'string' ? Buffer.from($binary, 'base64') : JSON.stringify(value);
}

export async function isSqliteFile(file: string): Promise<boolean> {
  const handle = await open(file, 'r').catch((error: unknown) => {
    throw new Error(`The backup ${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)}).`, {
      cause: error,
    });
  });
  try {
    const { buffer } = await handle.read(Buffer.alloc(16), 0, 16, 0);
    return buffer.toString('latin1') === 'SQLite format 3\0';
  } finally {
    await handle.close();
  }
}

/** @throws Error when the file is not a portable backup, or is truncated. */
export async function* readPortable(file: string): AsyncGenerator<BackupPart> {
  const damaged = (cause: unknown): Error =>
    new Error(`The backup ${file} is truncated or damaged; nothing was restored.`, { cause });
  let columns: readonly string[] = [];
  let rows: Row[] = [];
  let count = 0;
  let [started, ended] = [false, false];
  for await (const part of readLines(file, (cause) =>
    started ? damaged(cause) : new Error(`${file} is not a backup created by this program.`, { cause }),
  )) {
    if (!started && (part as Marker).format !== backupFormat)
      throw new Error(`${file} is not a backup created by this program.`);
    started = true;
    if (Array.isArray(part)) {
      const cells: readonly unknown[] = part;
      rows.push(Object.fromEntries(columns.map((column, index) => [column, decodeValue(cells[index] ?? null)])));
      count++;
      if (rows.length < 200) continue;
    }
    if (rows.length > 0) yield { rows };
    rows = [];
    if (Array.isArray(part)) continue;
    if (part.end !== undefined) ended = part.end === count;
    if (part.table === undefined) continue;
    columns = part.columns ?? [];
    yield { table: part.table };
  }
  if (!ended) throw damaged(undefined);
}

/** Yields the parsed lines; read errors are converted by `failure`. */
async function* readLines(file: string, failure: (cause: unknown) => Error): AsyncGenerator<Marker | unknown[]> {
  const gunzip = createGunzip();
  const unpacked = pipeline(createReadStream(file), gunzip).catch((error: unknown) => error);
  try {
    for await (const line of createInterface({ input: gunzip, crlfDelay: Number.POSITIVE_INFINITY }))
      yield JSON.parse(line) as Marker | unknown[];
  } catch (error) {
    throw failure(error);
  }
  const error = await unpacked;
  if (error !== undefined) throw failure(error);
}

interface Marker {
  readonly format?: string;
  readonly table?: string;
  readonly columns?: readonly string[];
  readonly end?: number;
}

/** A row of `GET /logs` (contract 2.5, D14). All members are texts, except a missing session (null). */
export interface LogRow {
  readonly id: string;
  readonly bot_id: string;
  readonly user_id: string;
  readonly session_id: string | null;
  readonly conversation_uuid: string;
  readonly is_guest: '0' | '1';
  readonly module: string;
  readonly message_count: string;
  readonly last_message_ts: string;
  /** UTC. */
  readonly created_at: string;
  readonly bot_name: string;
  readonly user_display_name: string;
  /** JSON of LoggedMessage[]. */
  readonly messages: string;
}

/** Members without a value are left out. */
export interface LoggedMessage {
  readonly id: string;
  readonly role: string;
  readonly content: string;
  /** Seconds since the epoch. */
  readonly timestamp: number;
  readonly provider?: string;
  readonly model?: string;
  readonly usage?: { readonly input_tokens: number; readonly output_tokens: number; readonly total_tokens: number };
  readonly feedback?: string;
}

/** A row that is never changed, and its JSON. */
export interface WrittenRow {
  readonly row: LogRow;
  readonly bytes: Uint8Array;
}

/** What the rows of a list were copied from, in their order. */
const originals = new WeakMap<readonly LogRow[], readonly WrittenRow[]>();

/** Copies that filters may change. */
export function copyRows(written: readonly WrittenRow[]): LogRow[] {
  const copies = written.map(({ row }) => ({ ...row }));
  originals.set(copies, written);
  return copies;
}

const opening = Buffer.from('[');
const comma = Buffer.from(',');
const closing = Buffer.from(']');

/** The JSON of rows. It reuses the cached JSON of those that no filter has changed or moved in the list. */
export function writeRows(rows: readonly LogRow[]): Uint8Array {
  const written = originals.get(rows) ?? [];
  const pieces: Uint8Array[] = [opening];
  rows.forEach((row, index) => {
    const original = written[index];
    if (index > 0) pieces.push(comma);
    pieces.push(
      original !== undefined && isCopy(row, original.row) ? original.bytes : Buffer.from(JSON.stringify(row)),
    );
  });
  return Buffer.concat([...pieces, closing]);
}

function isCopy(row: LogRow, original: LogRow): boolean {
  const names = Object.keys(row);
  return (
    names.length === Object.keys(original).length &&
    names.every((name) => row[name as keyof LogRow] === original[name as keyof LogRow])
  );
}

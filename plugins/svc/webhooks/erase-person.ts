import { isUrl, type HostApi, type Knex } from '#plugin-api';
import type { AttemptRecord } from './attempt-record.ts';
import { bodyDeletedReason } from './attempt.ts';
import { parseJson } from './delivery-log-rows.ts';
import { eraseFromInbox } from './inbox/inbox.ts';
import { bodyStates, tables } from './migrations.ts';
import type { SettingsStore } from './settings-store.ts';
import type { Store } from './store/store-contract.ts';

const { events, deliveries, attempts } = tables;
const batchSize = 500;
/** Attempts in flight end within 5 s; a process that died releases its deliveries after 15 s. */
const leaseCheckInterval = 250;
const maxLeaseChecks = 80;

/** Whom to erase. An event is about a person by user, guest session, conversation, or an email address in a form. */
export interface ErasedPerson {
  readonly userId: number | null;
  readonly sessionId: string | null;
  readonly email: string | null;
  /** UUIDs. */
  readonly conversations: readonly string[];
}

/** A delivery that was sent before the erasure: the receiver may hold data of the person. */
export interface SentDelivery {
  readonly delivery: string;
  readonly event: string;
  /** Host and port of the endpoint. */
  readonly host: string;
  /** ISO 8601, of the last attempt. */
  readonly time: string;
  /** `attempting`: the attempt was still running when the receipt was written. */
  readonly state: 'delivered' | 'failed' | 'attempting';
}

export interface ErasedEvents {
  readonly events: number;
  /** Deliveries that were waiting and are not sent anymore. */
  readonly cancelled: number;
  readonly sent: readonly SentDelivery[];
}

export interface ErasePersonParts {
  readonly host: Pick<HostApi, 'database' | 'clock'>;
  readonly store: Pick<Store, 'findLeased'>;
  readonly settings: Pick<SettingsStore, 'current'>;
}

interface EventRow {
  readonly id: number;
  readonly uuid: string;
  readonly name: string;
  readonly user_id: number | string | null;
  readonly session_id: string | null;
  readonly body: Buffer;
}

interface DeliveryRow {
  readonly id: number;
  readonly uuid: string;
  readonly event_id: number;
  readonly endpoint_id: string;
  readonly due_at: number | null;
  readonly state: string;
  readonly attempts: number;
  readonly created_at: number | string;
  readonly log: string | null;
  readonly target: string | null;
}

/**
 * Deletes the bodies of all events about a person, on all nodes, and cancels their waiting deliveries (D20). The records of
 * the deliveries stay. Waits up to 20 s for attempts in flight, so that the result lists them. May run more than once.
 */
export async function erasePerson(parts: ErasePersonParts, person: ErasedPerson): Promise<ErasedEvents> {
  const { database } = parts.host;
  const found = new Map<number, EventRow>();
  for (let last = 0; ;) {
    const rows = (await database
      .knex(events)
      .where('id', '>', last)
      .whereNot({ body_state: bodyStates.erased })
      .orderBy('id')
      .limit(batchSize)
      .select('id', 'uuid', 'name', 'user_id', 'session_id', 'body')) as EventRow[];
    for (const row of rows) if (isAbout(person, row)) found.set(Number(row.id), row);
    last = Number(rows.at(-1)?.id ?? 0);
    if (rows.length < batchSize) break;
  }
  let cancelled = 0;
  const sent: SentDelivery[] = [];
  const { byId } = await parts.settings.current();
  const ids = [...found.keys()];
  for (let start = 0; start < ids.length; start += batchSize) {
    const batch = ids.slice(start, start + batchSize);
    const erased = await eraseBatch(parts, batch);
    cancelled += erased.cancelled;
    for (const row of erased.rows) {
      const event = found.get(Number(row.event_id))?.name ?? '';
      sent.push(...toSent(row, { event, endpointUrl: byId.get(row.endpoint_id)?.url ?? '' }));
    }
  }
  await eraseFromInbox(parts.host, new Set([...found.values()].map(({ uuid }) => uuid)));
  return { events: ids.length, cancelled, sent };
}

async function eraseBatch(
  parts: ErasePersonParts,
  eventIds: readonly number[],
): Promise<{ readonly cancelled: number; readonly rows: readonly (DeliveryRow & { readonly isLeased: boolean })[] }> {
  let cancelled = 0;
  for (let check = 0; ; check += 1) {
    const pass = await erasePass(parts, eventIds);
    cancelled += pass.cancelled;
    if (!pass.rows.some(({ isLeased }) => isLeased) || check === maxLeaseChecks) return { cancelled, rows: pass.rows };
    await parts.host.clock.sleep(leaseCheckInterval);
  }
}

/** One transaction. Deliveries that a node is sending are left to it. */
async function erasePass(
  { host: { database }, store }: ErasePersonParts,
  eventIds: readonly number[],
): Promise<{ readonly cancelled: number; readonly rows: readonly (DeliveryRow & { readonly isLeased: boolean })[] }> {
  return database.transaction(async (knex) => {
    // Deliveries before events, in the order in which results are written.
    const query = knex(deliveries)
      .whereIn('event_id', [...eventIds])
      .orderBy('id');
    const rows = (await (database.dialect === 'postgresql' ? query.forUpdate() : query).select(
      'id',
      'uuid',
      'event_id',
      'endpoint_id',
      'due_at',
      'state',
      'attempts',
      'created_at',
      'log',
      'target',
    )) as DeliveryRow[];
    const open = rows.filter(({ due_at: due }) => due !== null).map(({ id }) => Number(id));
    const leased = open.length === 0 ? new Set<number>() : await store.findLeased(open);
    const waiting = open.filter((id) => !leased.has(id));
    for (let start = 0; start < waiting.length; start += batchSize)
      await knex(deliveries)
        .whereIn('id', waiting.slice(start, start + batchSize))
        .update({
          state: 'failed',
          due_at: null,
          finished_at: database.now(),
          failure: 'body_deleted',
          error: bodyDeletedReason,
        });
    await knex(events)
      .whereIn('id', [...eventIds])
      .whereNot({ body_state: bodyStates.erased })
      .update({
        body: Buffer.alloc(0),
        context: null,
        user_id: null,
        session_id: null,
        body_state: bodyStates.erased,
        body_deleted_at: database.now(),
      });
    await knex(deliveries)
      .whereIn('event_id', [...eventIds])
      .whereNotNull('body')
      .update({ body: null });
    await eraseResponses(knex, rows);
    return {
      cancelled: waiting.length,
      rows: rows.map((row) => ({ ...row, isLeased: row.due_at !== null && leased.has(Number(row.id)) })),
    };
  });
}

/** Responses can repeat the texts of a body. */
async function eraseResponses(knex: Knex, rows: readonly DeliveryRow[]): Promise<void> {
  for (const { id, log } of rows) {
    const erased = withoutResponse(log);
    if (erased !== null) await knex(deliveries).where({ id }).update({ log: erased });
  }
  const tried = rows.filter(({ attempts: count }) => count > 1).map(({ id }) => Number(id));
  for (let start = 0; start < tried.length; start += batchSize) {
    const earlier = (await knex(attempts)
      .whereIn('delivery_id', tried.slice(start, start + batchSize))
      .select('delivery_id', 'number', 'log')) as { delivery_id: number; number: number; log: string }[];
    for (const { delivery_id: deliveryId, number, log } of earlier) {
      const erased = withoutResponse(log);
      if (erased !== null) await knex(attempts).where({ delivery_id: deliveryId, number }).update({ log: erased });
    }
  }
}

/** The record without the response, its members in the same order; null if there is nothing to change. */
function withoutResponse(log: string | null): string | null {
  const record = log === null ? null : (parseJson(log) as AttemptRecord | null);
  if (record === null || (record.text === '' && Object.keys(record.answer).length === 0)) return null;
  return JSON.stringify({ ...record, answer: {}, text: '' });
}

function toSent(
  row: DeliveryRow & { readonly isLeased: boolean },
  { event, endpointUrl }: { readonly event: string; readonly endpointUrl: string },
): SentDelivery[] {
  if (row.attempts === 0 && !row.isLeased) return [];
  const record = row.log === null ? null : (parseJson(row.log) as AttemptRecord | null);
  const url = record?.url ?? (parseJson(row.target ?? 'null') as { readonly url?: string } | null)?.url ?? endpointUrl;
  return [
    {
      delivery: row.uuid,
      event,
      host: isUrl(url) ? new URL(url).host : '',
      time: new Date(record?.at ?? Number(row.created_at)).toISOString(),
      state: row.isLeased ? 'attempting' : row.state === 'delivered' ? 'delivered' : 'failed',
    },
  ];
}

function isAbout({ userId, sessionId, email, conversations }: ErasedPerson, row: EventRow): boolean {
  if (userId !== null && row.user_id !== null && Number(row.user_id) === userId) return true;
  if (sessionId !== null && row.session_id === sessionId) return true;
  const data = (parseJson(row.body.toString()) as { readonly data?: EventFields } | null)?.data;
  if (data === undefined) return false;
  if (userId !== null && data.actor?.user_id === userId) return true;
  if (data.conversation?.id !== undefined && conversations.includes(data.conversation.id)) return true;
  const address = email?.toLowerCase();
  return (
    address !== undefined &&
    Object.values(data.inputs ?? {}).some(
      (value) => typeof value === 'string' && value.trim().toLowerCase() === address,
    )
  );
}

interface EventFields {
  readonly actor?: { readonly user_id?: number };
  readonly conversation?: { readonly id?: string };
  readonly inputs?: Readonly<Record<string, unknown>>;
}

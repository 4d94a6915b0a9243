import { randomBytes } from 'node:crypto';
import { requiredColumns, isSameSecret, restError, type HostApi, type Knex, type Migration } from '#plugin-api';
import { createTables } from '../../kit/migrations.ts';
import { typedInternalHost } from '../../kit/internal-host.ts';
import type { Endpoint } from '../endpoint.ts';
import { bodyStates, tables } from '../migrations.ts';
import { sign } from '../signing-secret.ts';
import type { WebhookAdministration, Webhooks } from '../webhooks.ts';

export const inboxTable = 'svc_webhook_inbox';

/** Requests that the test inbox received; the newest hundred are stored. */
export const inboxMigration = createTables('0102_webhook_inbox', {
  [inboxTable](columns) {
    columns.bigIncrements('id');
    requiredColumns(columns).bigInteger('received_at').text('headers').binary('body').text('verdict', 'answer');
  },
});

export const inboxResponseMigration: Migration = {
  id: '0191_webhook_inbox_response',
  async up(knex) {
    await knex.raw(`ALTER TABLE ${inboxTable} RENAME COLUMN answer TO response`);
  },
};

/** Responses that the inbox can send, to demonstrate success, failures and retries. */
export const inboxResponses = [
  { id: '200', label: '200 OK', help: 'The delivery succeeds.' },
  { id: '410', label: '410 Gone', help: 'The delivery fails at once: this status is not retried.' },
  {
    id: '500',
    label: '500 Internal Server Error',
    help: 'Three attempts: at once, after 0.25 seconds and after 1 second.',
  },
  { id: 'slow', label: '200 OK after 3 seconds', help: 'The delivery succeeds within the limit of 5 seconds.' },
  { id: 'hang', label: 'No response', help: 'Each attempt times out after 5 seconds.' },
] as const;

export type InboxResponse = (typeof inboxResponses)[number]['id'];

function isInboxResponse(value: string): value is InboxResponse {
  return inboxResponses.some(({ id }) => id === value);
}

export const inboxOption = 'svc_webhook_inbox';
/** Stored requests and the maximum body in bytes: 25 MB in all. */
export const maxRequests = 100;
export const maxBodyBytes = 256 * 1024;
const maxHeaderBytes = 16 * 1024;

export interface InboxRequest {
  readonly id: number;
  readonly receivedAt: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly verdict: Verdict;
  /** The response that was sent: an id of `inboxResponses`. */
  readonly response: string;
}

/** Value of the option. */
interface StoredInbox {
  readonly token: string;
  readonly endpointId: string;
  readonly answer: InboxResponse;
}

export interface InboxState {
  /** URL of the inbox. */
  readonly url: string;
  /** null: the endpoint was deleted. Requests are still accepted, but their signatures cannot be verified. */
  readonly endpoint: Endpoint | null;
  readonly response: InboxResponse;
}

/** The test inbox: one receiver on this site, at a URL that cannot be guessed. */
export interface Inbox {
  /** null: the inbox is not open. */
  state(): Promise<InboxState | null>;
  /** Opens the inbox and adds an endpoint that sends all events to it. If it is open, adds a deleted endpoint again. */
  open(): Promise<InboxState>;
  /** Deletes the inbox, its requests and its endpoint. */
  close(): Promise<void>;
  /** Also ends a pause of the inbox's endpoint. */
  setResponse(response: string): Promise<void>;
  /** Newest first. */
  list(): Promise<InboxRequest[]>;
  clear(): Promise<number>;
  /** Stores a request and returns which response to send. @throws RestError 404 if the token is wrong. */
  receive(
    token: string,
    request: { readonly headers: Readonly<Record<string, string | undefined>>; readonly body: Uint8Array },
  ): Promise<InboxResponse>;
}

export interface InboxParts {
  readonly host: Pick<HostApi, 'database' | 'options' | 'rest' | 'http' | 'clock'>;
  readonly webhooks: Pick<WebhookAdministration, 'settings' | 'addEndpoint' | 'removeEndpoint'> &
    Pick<Webhooks, 'catalogue' | 'deliveryLog'>;
  /** Secrets that an endpoint signs with now, in plain text. */
  readonly secretsFor: (endpointId: string) => Promise<readonly string[]>;
}

export function createInbox({ host, webhooks, secretsFor }: InboxParts): Inbox {
  const { database, options } = host;
  const read = (): Promise<StoredInbox | false> => options.get<StoredInbox | false>(inboxOption, false);

  async function toState({ token, endpointId, answer }: StoredInbox): Promise<InboxState> {
    const { endpoints } = await webhooks.settings();
    return {
      url: host.rest.url(`/svc/v1/inbox/${token}`),
      endpoint: endpoints.find(({ id }) => id === endpointId) ?? null,
      response: answer,
    };
  }

  async function addEndpoint(url: string): Promise<Endpoint> {
    const allowHost = typedInternalHost(url);
    // If the site's own name resolves to a private address, that address is this site and may be called.
    const internal = await host.http.check(url, { ...(allowHost !== null && { allowHost }) }).then(
      () => false,
      () => true,
    );
    return webhooks.addEndpoint({
      name: 'Test inbox',
      url,
      internal,
      events: webhooks.catalogue.list().map(({ name }) => name),
    });
  }

  return {
    async state() {
      const stored = await read();
      return stored ? toState(stored) : null;
    },
    async open() {
      const stored = await read();
      const known = stored ? await toState(stored) : null;
      if (known?.endpoint) return known;
      const token = stored ? stored.token : randomBytes(24).toString('base64url');
      const endpoint = await addEndpoint(host.rest.url(`/svc/v1/inbox/${token}`));
      const opened: StoredInbox = { token, endpointId: endpoint.id, answer: stored ? stored.answer : '200' };
      const isFirst = stored
        ? await options.compareAndSet(inboxOption, stored, opened)
        : await options.add(inboxOption, opened);
      // Two clicks at once: drop the endpoint of the second.
      if (!isFirst) await webhooks.removeEndpoint(endpoint.id);
      return toState((await read()) || opened);
    },
    async close() {
      const stored = await read();
      if (!stored) return;
      await options.delete(inboxOption);
      await webhooks.removeEndpoint(stored.endpointId);
      await database.knex(inboxTable).delete();
    },
    async setResponse(response) {
      if (!isInboxResponse(response))
        throw restError(
          400,
          'rest_invalid_param',
          `Choose one of these responses: ${inboxResponses.map(({ id }) => id).join(', ')}.`,
        );
      const stored = await read();
      if (!stored) return;
      await options.update(inboxOption, { ...stored, answer: response });
      // What it responded with before may have paused it.
      await webhooks.deliveryLog.resume(stored.endpointId);
    },
    async list() {
      const rows: InboxRow[] = await database.knex(inboxTable).orderBy('id', 'desc').limit(maxRequests);
      return rows.map(({ id, received_at: receivedAt, headers, body, verdict, response }) => ({
        id: Number(id),
        receivedAt: Number(receivedAt),
        headers: JSON.parse(headers) as Record<string, string>,
        body: Buffer.from(body).toString(),
        verdict,
        response,
      }));
    },
    clear: () => database.knex(inboxTable).delete(),
    async receive(token, { headers, body }) {
      const stored = await read();
      if (!stored || !isSameSecret(token, stored.token))
        throw restError(404, 'rest_no_route', 'The inbox does not exist.');
      const verdict = verifySignature({ headers, body }, await secretsFor(stored.endpointId));
      await database.transaction(async (knex) => {
        await knex(inboxTable).insert({
          received_at: host.clock.now(),
          headers: JSON.stringify(storableHeaders(headers)),
          body: (await isTemporary(knex, headers['x-svc-delivery-id']))
            ? Buffer.from(temporaryNote)
            : Buffer.from(body),
          verdict,
          response: stored.answer,
        });
        await knex(inboxTable)
          .where('id', '<=', knex(inboxTable).select('id').orderBy('id', 'desc').offset(maxRequests).limit(1))
          .delete();
      });
      return stored.answer;
    },
  };
}

/** Stored instead of a body that the site may not keep (D20). */
const temporaryNote = '(The body is not stored, because the chatbot or form does not store texts.)';

async function isTemporary(knex: Knex, deliveryId: string | undefined): Promise<boolean> {
  if (deliveryId === undefined) return false;
  const row = (await knex(`${tables.deliveries} as d`)
    .join(`${tables.events} as e`, 'e.id', 'd.event_id')
    .where('d.uuid', deliveryId)
    .first('e.body_state')) as { readonly body_state: number } | undefined;
  return row !== undefined && row.body_state !== bodyStates.stored;
}

/** Deletes received requests of these events. @param eventIds `X-SVC-Event-Id` */
export async function eraseFromInbox(
  { database }: Pick<HostApi, 'database'>,
  eventIds: ReadonlySet<string>,
): Promise<void> {
  if (eventIds.size === 0) return;
  const rows = (await database.knex(inboxTable).select('id', 'headers')) as Pick<InboxRow, 'id' | 'headers'>[];
  const ids = rows
    .filter(({ headers }) => eventIds.has((JSON.parse(headers) as Record<string, string>)['x-svc-event-id'] ?? ''))
    .map(({ id }) => id);
  await database.knex(inboxTable).whereIn('id', ids).delete();
}

interface InboxRow {
  readonly id: number;
  readonly received_at: number;
  readonly headers: string;
  readonly body: Buffer;
  readonly verdict: Verdict;
  readonly response: string;
}

/** Headers as received, without credentials and up to a total length. */
function storableHeaders(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  let length = 0;
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      length += name.length + (value ?? '').length;
      if (value === undefined || length > maxHeaderBytes) return [];
      return [
        [name, (/auth|api-?key|token|secret|cookie|pass/i.test(name) ? '[redacted]' : value).replaceAll('\0', '')],
      ];
    }),
  );
}

/** Result of a signature check (contract 6.6). */
export type Verdict = 'verified' | 'wrong' | 'unsigned' | 'no-secret';

interface SignedRequest {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** As received, not parsed and serialized again. */
  readonly body: Uint8Array;
}

/** Verifies the raw body in constant time, as receivers should. @param secrets valid secrets; any may match. */
function verifySignature({ headers, body }: SignedRequest, secrets: readonly string[]): Verdict {
  const [signature, timestamp] = [headers['x-svc-signature'] ?? '', headers['x-svc-timestamp'] ?? ''];
  if (signature === '') return 'unsigned';
  if (secrets.length === 0) return 'no-secret';
  return secrets.some((secret) => isSameSecret(sign(secret, timestamp, body), signature)) ? 'verified' : 'wrong';
}

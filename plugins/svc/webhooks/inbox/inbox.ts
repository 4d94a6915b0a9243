import { randomBytes } from 'node:crypto';
import { RestError, type HostApi, type Migration } from '#plugin-api';
import { typedInternalHost } from '../../kit/internal-host.ts';
import type { Endpoint } from '../endpoint.ts';
import { isSameText, sign } from '../sign.ts';
import type { WebhookAdministration, Webhooks } from '../webhooks.ts';

export const inboxTable = 'svc_webhook_inbox';

/** What the built-in inbox received; the newest hundred are kept. */
export const inboxMigration: Migration = {
  id: '0102_webhook_inbox',
  async up(knex) {
    await knex.schema.createTable(inboxTable, (columns) => {
      columns.bigIncrements('id');
      columns.bigInteger('received_at').notNullable();
      columns.text('headers').notNullable();
      columns.binary('body').notNullable();
      columns.text('verdict').notNullable();
      columns.text('answer').notNullable();
    });
  },
};

/** How the inbox may answer, so that success, failures and retries are seen at work. */
export const inboxResponses = [
  { id: '200', label: '200: take it', help: 'Delivered at once.' },
  { id: '410', label: '410: refuse it', help: 'Failed at once: this status is not tried again.' },
  { id: '500', label: '500: fail', help: 'Tried three times: at once, after 0.25 and after 1 second.' },
  { id: 'slow', label: '200 after 3 seconds', help: 'Delivered, slowly: below the limit of 5 seconds.' },
  { id: 'hang', label: 'No answer', help: 'Each attempt ends after 5 seconds with a time-out.' },
] as const;

export type InboxResponse = (typeof inboxResponses)[number]['id'];

function isInboxResponse(value: string): value is InboxResponse {
  return inboxResponses.some(({ id }) => id === value);
}

export const inboxOption = 'svc_webhook_inbox';
/** Requests that are kept, and the largest body that is taken, in bytes: 25 MB in all. */
export const maxRequests = 100;
export const maxBodyBytes = 256 * 1024;
const maxHeaderBytes = 16 * 1024;

export interface InboxRequest {
  readonly id: number;
  readonly receivedAt: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly verdict: Verdict;
  /** How it was answered: an id of `answers`. */
  readonly answer: string;
}

interface StoredInbox {
  readonly token: string;
  readonly endpointId: string;
  readonly answer: InboxResponse;
}

export interface InboxState {
  /** Address of the inbox. */
  readonly url: string;
  /** null: it was removed; requests are still taken, and nothing verifies them. */
  readonly endpoint: Endpoint | null;
  readonly answer: InboxResponse;
}

/** A receiver on the site itself, for first tries: there is one, with an address nobody can guess. */
export interface Inbox {
  /** null: there is none yet. */
  state(): Promise<InboxState | null>;
  /** Makes the inbox, and an endpoint that points at it and is subscribed to everything. Once; later calls make a removed endpoint anew. */
  open(): Promise<InboxState>;
  /** Removes the inbox, what it holds, and its endpoint. */
  close(): Promise<void>;
  setResponse(answer: string): Promise<void>;
  /** Newest first. */
  list(): Promise<InboxRequest[]>;
  clear(): Promise<number>;
  /** Stores a request, and says how it is to be answered. Throws RestError 404 when the token is not that of the inbox. */
  receive(
    token: string,
    request: { readonly headers: Readonly<Record<string, string | undefined>>; readonly body: Uint8Array },
  ): Promise<InboxResponse>;
}

export interface InboxParts {
  readonly host: Pick<HostApi, 'database' | 'options' | 'rest' | 'http' | 'clock'>;
  readonly webhooks: Pick<WebhookAdministration, 'settings' | 'addEndpoint' | 'removeEndpoint'> &
    Pick<Webhooks, 'catalogue'>;
  /** Secrets that an endpoint signs with at this moment, in plain text. */
  readonly secretsOf: (endpointId: string) => Promise<readonly string[]>;
}

export function createInbox({ host, webhooks, secretsOf }: InboxParts): Inbox {
  const { database, options } = host;
  const read = (): Promise<StoredInbox | false> => options.get<StoredInbox | false>(inboxOption, false);

  async function stateOf({ token, endpointId, answer }: StoredInbox): Promise<InboxState> {
    const { endpoints } = await webhooks.settings();
    return {
      url: host.rest.url(`/svc/v1/inbox/${token}`),
      endpoint: endpoints.find(({ id }) => id === endpointId) ?? null,
      answer,
    };
  }

  async function addEndpoint(url: string): Promise<Endpoint> {
    const allowHost = typedInternalHost(url);
    // A name of the site's own that leads inside the network is the site itself, and may be called.
    const internal = await host.http.check(url, { ...(allowHost !== null && { allowHost }) }).then(
      () => false,
      () => true,
    );
    return webhooks.addEndpoint({
      name: 'Inbox of this site',
      url,
      internal,
      events: webhooks.catalogue.list().map(({ name }) => name),
    });
  }

  return {
    async state() {
      const stored = await read();
      return stored ? stateOf(stored) : null;
    },
    async open() {
      const stored = await read();
      const known = stored ? await stateOf(stored) : null;
      if (known?.endpoint) return known;
      const token = stored ? stored.token : randomBytes(24).toString('base64url');
      const endpoint = await addEndpoint(host.rest.url(`/svc/v1/inbox/${token}`));
      const opened: StoredInbox = { token, endpointId: endpoint.id, answer: stored ? stored.answer : '200' };
      const isFirst = stored
        ? await options.compareAndSet(inboxOption, stored, opened)
        : await options.add(inboxOption, opened);
      // Two clicks at once: the endpoint of the second one is not wanted.
      if (!isFirst) await webhooks.removeEndpoint(endpoint.id);
      return stateOf((await read()) || opened);
    },
    async close() {
      const stored = await read();
      if (!stored) return;
      await options.delete(inboxOption);
      await webhooks.removeEndpoint(stored.endpointId);
      await database.knex(inboxTable).delete();
    },
    async setResponse(answer) {
      if (!isInboxResponse(answer))
        throw new RestError({
          code: 'rest_invalid_param',
          message: `Choose one of these answers: ${inboxResponses.map(({ id }) => id).join(', ')}.`,
          status: 400,
        });
      const stored = await read();
      if (stored) await options.update(inboxOption, { ...stored, answer });
    },
    async list() {
      const rows: InboxRow[] = await database.knex(inboxTable).orderBy('id', 'desc').limit(maxRequests);
      return rows.map(({ id, received_at: receivedAt, headers, body, verdict, answer }) => ({
        id: Number(id),
        receivedAt: Number(receivedAt),
        headers: JSON.parse(headers) as Record<string, string>,
        body: Buffer.from(body).toString(),
        verdict,
        answer,
      }));
    },
    clear: () => database.knex(inboxTable).delete(),
    async receive(token, { headers, body }) {
      const stored = await read();
      if (!stored || !isSameText(token, stored.token))
        throw new RestError({ code: 'rest_no_route', message: 'There is no such inbox.', status: 404 });
      const verdict = verifySignature({ headers, body }, await secretsOf(stored.endpointId));
      await database.transaction(async (knex) => {
        await knex(inboxTable).insert({
          received_at: host.clock.now(),
          headers: JSON.stringify(storableHeaders(headers)),
          body: Buffer.from(body),
          verdict,
          answer: stored.answer,
        });
        await knex(inboxTable)
          .where('id', '<=', knex(inboxTable).select('id').orderBy('id', 'desc').offset(maxRequests).limit(1))
          .delete();
      });
      return stored.answer;
    },
  };
}

interface InboxRow {
  readonly id: number;
  readonly received_at: number;
  readonly headers: string;
  readonly body: Buffer;
  readonly verdict: Verdict;
  readonly answer: string;
}

/** Headers as received; credentials are nobody's to read here, and a flood of headers fills no disk. */
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

/** What a receiver finds when it verifies a request (contract 6.6). */
export type Verdict = 'verified' | 'wrong' | 'unsigned' | 'no-secret';

interface SignedRequest {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** As received, never parsed and written anew. */
  readonly body: Uint8Array;
}

/**
 * Verifies as a receiver should: over the raw body, in constant time.
 *
 * @param secrets those that are valid; any one of them is enough.
 */
function verifySignature({ headers, body }: SignedRequest, secrets: readonly string[]): Verdict {
  const [signature, timestamp] = [headers['x-svc-signature'] ?? '', headers['x-svc-timestamp'] ?? ''];
  if (signature === '') return 'unsigned';
  if (secrets.length === 0) return 'no-secret';
  return secrets.some((secret) => isSameText(sign(secret, timestamp, body), signature)) ? 'verified' : 'wrong';
}

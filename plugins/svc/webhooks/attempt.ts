import type { HostApi } from '#plugin-api';
import type { AttemptOutcome, Deliver } from './delivery/deliver.contract.ts';
import type { WebhookTarget } from './endpoint.ts';
import { schemaVersion, type Envelope } from './event.ts';
import type { SettingsStore, Snapshot, StoredEndpoint } from './settings-store.ts';
import { sign, signStandard } from './sign.ts';
import type { Finish, Job, Store, StoredEvent } from './store/store-contract.ts';
import { toTarget } from './target.ts';

/** Contract 8. */
const defaultTimeout = 5_000;
const defaultDelays: readonly number[] = [0, 0.25, 1];
/** Until a job is looked at again that could not be prepared because the database is out of reach, in milliseconds. */
const postponement = 1_000;
/** Timers hold no more than this, in milliseconds. */
const longestTimeout = 2 ** 31 - 1;
/** Seconds; the opt-in preset of D21. */
const longTail: readonly number[] = [5, 300, 1_800, 7_200, 18_000, 36_000];

export interface AttemptParts {
  readonly host: Pick<HostApi, 'hooks' | 'clock' | 'log' | 'plugin' | 'database'>;
  readonly settings: SettingsStore;
  readonly store: Pick<Store, 'keepBody'>;
  readonly deliver: Deliver;
}

export interface Attempted {
  readonly finish: Finish;
  /** null: nothing was sent. */
  readonly outcome: AttemptOutcome | null;
}

/** Makes one attempt of a job: filters, headers, signature, sending, and what follows from the outcome. Never rejects. */
export type MakeAttempt = (job: Job, init: { readonly probe: boolean; readonly signal?: AbortSignal }) => Promise<Attempted>;

interface Request {
  readonly target: WebhookTarget;
  readonly body: Buffer;
  /** A filter made these bytes just now. */
  readonly isNew: boolean;
  readonly headers: Readonly<Record<string, string>>;
  /** Headers that are not made of event, delivery and time alone, for the record. */
  readonly extra: Readonly<Record<string, string>> | null;
  readonly timestamp: string;
  readonly timeout: number;
  readonly redirects: number;
}

export function createAttempt(parts: AttemptParts): MakeAttempt {
  const { host, settings, deliver } = parts;

  async function attempt(job: Job, { probe, signal }: { readonly probe: boolean; readonly signal?: AbortSignal }): Promise<Attempted> {
    const { event } = job;
    if (event === null) return { finish: ended(job, 'aborted', 'It could not be sent: its event is not stored any more.'), outcome: null };
    const snapshot = await settings.current();
    const endpoint = snapshot.byId.get(job.endpointId);
    const target = job.target === null ? (endpoint ? toTarget(endpoint) : null) : (JSON.parse(job.target) as WebhookTarget & { readonly added: boolean });
    const stopped = stopReason(snapshot, endpoint, { job, event, isAdded: target !== null && 'added' in target && target.added === true });
    if (stopped !== null || target === null) return { finish: ended(job, 'stopped', stopped ?? 'The endpoint was removed.'), outcome: null };
    let request: Request;
    try {
      request = await prepare(parts.host, job, { snapshot, event, endpoint, target });
    } catch (error) {
      return { finish: ended(job, 'filter', `A filter of requests failed: ${sentenceOf(error)}`), outcome: null };
    }
    // What the first attempt sends is what all of them send (D20). Somebody else's job by now is somebody else's to send.
    if (request.isNew && !(await parts.store.keepBody(job, request.body))) return { finish: postponed(job), outcome: null };
    const startedAt = host.clock.now();
    const { body, headers, timeout, redirects } = request;
    const outcome = await deliver({ url: target.url, headers, body, timeout, redirects, allowInternal: target.internal, ...(signal && { signal }) });
    try {
      return { finish: await settle(host, { job, request, outcome, startedAt, probe }), outcome };
    } catch (error) {
      const finish = ended(job, 'filter', `A filter of retries failed: ${sentenceOf(error)}`);
      return { finish: { ...finish, made: 1, status: outcome.status, duration: Math.round(outcome.duration), log: record(request, outcome, { startedAt, delay: null }) }, outcome };
    }
  }

  return async (job, init) => {
    try {
      return await attempt(job, init);
    } catch (error) {
      if (host.database.isUnavailable(error)) return { finish: postponed(job), outcome: null };
      host.log.error('An attempt of a webhook delivery failed before it was sent.', { delivery: job.uuid, error });
      return { finish: ended(job, 'aborted', `It could not be sent: ${sentenceOf(error)}`), outcome: null };
    }
  };
}

/** Which of the conditions of contract 6.1 does not hold any more. */
function stopReason(snapshot: Snapshot, endpoint: StoredEndpoint | undefined, { job, event, isAdded }: { readonly job: Job; readonly event: StoredEvent; readonly isAdded: boolean }): string | null {
  if (!snapshot.stored.enabled) return 'Event webhooks were switched off.';
  if (isAdded) return null;
  if (endpoint === undefined) return 'The endpoint was removed.';
  if (!endpoint.enabled) return 'The endpoint was switched off.';
  if (endpoint.url === '') return 'The endpoint has no URL.';
  // A target that a filter chose need not be subscribed.
  return job.target !== null || endpoint.events.includes(event.name) ? null : `The endpoint is not subscribed to ${event.name} any more.`;
}

interface PrepareInit {
  readonly snapshot: Snapshot;
  readonly event: StoredEvent;
  readonly endpoint: StoredEndpoint | undefined;
  readonly target: WebhookTarget;
}

async function prepare(host: AttemptParts['host'], job: Job, { snapshot, event, endpoint, target }: PrepareInit): Promise<Request> {
  const { hooks, clock } = host;
  const timestamp = String(Math.floor(clock.now() / 1000));
  const base = {
    'Content-Type': 'application/json; charset=utf-8', Accept: 'application/json', 'User-Agent': `${host.plugin.slug}/${host.plugin.version}`,
    'X-SVC-Event': event.name, 'X-SVC-Event-Id': event.uuid, 'X-SVC-Delivery-Id': job.uuid, 'X-SVC-Idempotency-Key': event.key, 'X-SVC-Schema-Version': schemaVersion, 'X-SVC-Timestamp': timestamp,
  };
  const custom = endpoint === undefined || Object.keys(endpoint.headers).length === 0 ? null : snapshot.headersOf(endpoint);
  let headers: Record<string, string> = custom === null ? base : { ...base, ...custom };
  let body = job.ownBody ?? event.body;
  let isNew = false;
  let [timeout, redirects] = [defaultTimeout, target.redirects];
  const filtersHeaders = hooks.hasFilter('svc_event_webhooks_request_headers') !== false;
  const filtersArgs = hooks.hasFilter('svc_event_webhooks_request_args') !== false;
  if (event.unfiltered && job.ownBody === null) {
    const envelope = JSON.parse(event.body.toString()) as Envelope;
    body = Buffer.from(JSON.stringify(await hooks.applyFiltersAsync('svc_event_webhooks_envelope', envelope, envelope.type, envelope.data, {})));
    isNew = true;
  }
  if (filtersHeaders) {
    const filtered = await hooks.applyFiltersAsync('svc_event_webhooks_request_headers', headers, JSON.parse(body.toString()) as Envelope, job.uuid);
    if (typeof filtered !== 'object' || (filtered as unknown) === null) throw new Error('it answered no headers.');
    headers = { ...filtered };
  }
  if (filtersArgs) {
    const text = body.toString();
    const args = await hooks.applyFiltersAsync('svc_event_webhooks_request_args', { timeout: timeout / 1000, redirection: redirects, headers, body: text }, headers, text);
    headers = { ...args.headers };
    if (!isCount(args.timeout) || !isCount(args.redirection)) throw new Error('its timeout or redirection is no number.');
    timeout = Math.min(longestTimeout, Math.max(1, Math.round(args.timeout * 1000)));
    redirects = Math.floor(args.redirection);
    if (job.ownBody === null && args.body !== text) {
      body = Buffer.from(args.body);
      isNew = true;
    }
  }
  const secrets = snapshot.secretsOf(endpoint);
  const [secret] = secrets;
  if (secret !== undefined) {
    headers['X-SVC-Signature'] = sign(secret, timestamp, body);
    headers['X-SVC-Signature-Alg'] = 'sha256';
  }
  if (target.standardWebhooks && secret !== undefined) {
    headers['webhook-id'] = event.uuid;
    headers['webhook-timestamp'] = timestamp;
    headers['webhook-signature'] = signStandard(secrets, { id: event.uuid, timestamp, body });
  }
  return { target, body, isNew, headers, extra: custom !== null || filtersHeaders || filtersArgs || target.standardWebhooks ? headers : null, timestamp, timeout, redirects };
}

interface SettleInit {
  readonly job: Job;
  readonly request: Request;
  readonly outcome: AttemptOutcome;
  readonly startedAt: number;
  readonly probe: boolean;
}

async function settle({ hooks }: AttemptParts['host'], { job, request, outcome, startedAt, probe }: SettleInit): Promise<Finish> {
  const common = { job, made: 1, free: probe && !outcome.ok, status: outcome.status, failure: outcome.failure, error: outcome.error, duration: Math.round(outcome.duration) } as const;
  if (outcome.ok) return { ...common, state: 'delivered', delay: 0, log: record(request, outcome, { startedAt, delay: null }) };
  const delays = await hooks.applyFiltersAsync('svc_event_webhooks_retry_delays', request.target.longTail ? [...defaultDelays, ...longTail] : defaultDelays);
  if (!Array.isArray(delays) || !delays.every(isCount)) throw new Error('the delays are no list of seconds.');
  const number = job.attempts - job.runStart + 1;
  const retryable = await hooks.applyFiltersAsync('svc_event_webhooks_should_retry', outcome.retryable, { status: outcome.status, error: outcome.error }, number, delays.length);
  const wait = delays[number];
  // A probe that fails leaves the job where it was; an attempt broken off by the end of the process is made again.
  const isAgain = probe || outcome.failure === 'aborted' || (retryable === true && wait !== undefined);
  const seconds = Math.max(wait ?? 0, Math.min(60, outcome.retryAfter ?? 0));
  // The long waits are jittered, so that what failed together does not come back together.
  const delay = isAgain ? Math.round(seconds * 1000 * (number > 3 ? 1 + Math.random() * 0.2 : 1)) : null;
  return { ...common, state: isAgain ? 'pending' : 'failed', delay: delay ?? 0, log: record(request, outcome, { startedAt, delay }) };
}

function ended(job: Job, failure: 'stopped' | 'filter' | 'aborted', error: string): Finish {
  return { job, state: 'failed', delay: 0, made: 0, free: false, status: null, failure, error, duration: null, log: null };
}

/** Given back as it was: nothing was tried. */
function postponed(job: Job): Finish {
  return { job, state: 'pending', delay: postponement, made: 0, free: false, status: null, failure: null, error: null, duration: null, log: null };
}

/** One attempt as the recorder keeps it. */
export interface AttemptRecord {
  readonly at: number;
  readonly ms: number;
  readonly status: number | null;
  readonly failure: string | null;
  readonly error: string | null;
  readonly url: string;
  readonly time: string;
  readonly sig: string | null;
  /** null: those of every delivery. */
  readonly headers: Readonly<Record<string, string>> | null;
  readonly answer: Readonly<Record<string, string>>;
  readonly text: string;
  readonly next: number | null;
}

function record({ headers, extra, timestamp }: Request, outcome: AttemptOutcome, { startedAt, delay }: { readonly startedAt: number; readonly delay: number | null }): string {
  const kept: AttemptRecord = {
    at: startedAt, ms: outcome.duration, status: outcome.status, failure: outcome.failure, error: outcome.error, url: outcome.finalUrl, time: timestamp,
    sig: headers['X-SVC-Signature'] ?? null, headers: extra === null ? null : withoutSecrets(extra), answer: outcome.responseHeaders, text: outcome.responseBody, next: delay,
  };
  // PostgreSQL's text holds no zero characters.
  return JSON.stringify(kept).replaceAll('\\u0000', '\\ufffd');
}

function withoutSecrets(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, /auth|api-?key|token|secret|cookie|pass/i.test(name) ? '[redacted]' : value]));
}

const isCount = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value) && value >= 0;

const sentenceOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).replaceAll('\0', '');

import type { HostApi } from '#plugin-api';
import type { WebhookTarget } from './endpoint.ts';
import { schemaVersion, type Envelope, type EventContext } from './event.ts';
import type { Snapshot, StoredEndpoint } from './settings-store.ts';
import { sign, signStandard } from './signing-secret.ts';
import type { Job, Store, StoredEvent } from './store/store-contract.ts';
import { toTarget } from './target.ts';

/** Contract 8: milliseconds. */
const defaultTimeout = 5_000;
/** Maximum of a Node.js timer, in milliseconds. */
const maxTimeout = 2 ** 31 - 1;

/** What one attempt sends. */
export interface AttemptPlan {
  readonly target: WebhookTarget;
  readonly body: Buffer;
  /** A filter has just produced this body. */
  readonly isNew: boolean;
  readonly headers: Readonly<Record<string, string>>;
  /** Headers for the record; null if they follow from event, delivery and time. */
  readonly extra: Readonly<Record<string, string>> | null;
  readonly timestamp: string;
  /** Milliseconds. */
  readonly timeout: number;
  readonly redirects: number;
}

/** What all attempts to an endpoint share while the settings do not change. */
export interface Destination {
  readonly target: WebhookTarget;
  /** Newest first; empty: unsigned. */
  readonly secrets: readonly string[];
  /** Why nothing may be sent: see `Snapshot.holdReason`. */
  readonly held: string | null;
  /** Custom headers; null: none. */
  readonly custom: Readonly<Record<string, string>> | null;
}

const destinations = new WeakMap<Snapshot, Map<string, Destination>>();

/** Cached per snapshot of the settings, which is taken several times a second. */
export function destinationFor(snapshot: Snapshot, endpoint: StoredEndpoint): Destination {
  const known = destinations.get(snapshot) ?? new Map<string, Destination>();
  if (known.size === 0) destinations.set(snapshot, known);
  const found = known.get(endpoint.id) ?? createDestination(snapshot, endpoint, toTarget(endpoint));
  known.set(endpoint.id, found);
  return found;
}

export function createDestination(
  snapshot: Snapshot,
  endpoint: StoredEndpoint | undefined,
  target: WebhookTarget,
): Destination {
  return {
    target,
    secrets: snapshot.secretsFor(endpoint),
    held: snapshot.holdReason(endpoint),
    custom: endpoint === undefined || Object.keys(endpoint.headers).length === 0 ? null : snapshot.headersFor(endpoint),
  };
}

export interface PlanParts {
  readonly host: Pick<HostApi, 'hooks' | 'clock' | 'plugin'>;
  readonly store: Pick<Store, 'readContext'>;
}

interface Draft {
  headers: Record<string, string>;
  body: Buffer;
  isNew: boolean;
  timeout: number;
  redirects: number;
}

/**
 * Builds headers, body and signature of an attempt. Synchronous unless a filter runs.
 *
 * @throws or rejects with what a filter throws.
 */
export function planAttempt(
  parts: PlanParts,
  { job, event, destination }: { readonly job: Job; readonly event: StoredEvent; readonly destination: Destination },
): AttemptPlan | Promise<AttemptPlan> {
  const { hooks, clock, plugin } = parts.host;
  const timestamp = String(Math.floor(clock.now() / 1000));
  const base = {
    'Content-Type': 'application/json; charset=utf-8',
    Accept: 'application/json',
    'User-Agent': `${plugin.slug}/${plugin.version}`,
    'X-SVC-Event': event.name,
    'X-SVC-Event-Id': event.uuid,
    'X-SVC-Delivery-Id': job.uuid,
    'X-SVC-Idempotency-Key': event.key,
    'X-SVC-Schema-Version': schemaVersion,
    'X-SVC-Timestamp': timestamp,
  };
  const { custom, target } = destination;
  const draft: Draft = {
    headers: custom === null ? base : { ...base, ...custom },
    body: job.bodyOverride ?? event.body,
    isNew: false,
    timeout: defaultTimeout,
    redirects: target.redirects,
  };
  const isFiltered =
    hooks.hasFilter('svc_event_webhooks_request_headers') !== false ||
    hooks.hasFilter('svc_event_webhooks_request_args') !== false;
  const signed = {
    destination,
    event,
    timestamp,
    hasStandardHeaders: custom === null && !isFiltered && !target.standardWebhooks,
  };
  if (!isFiltered && (!event.needsEnvelopeFilter || job.bodyOverride !== null)) return signPlan(draft, signed);
  return filterDraft(parts, draft, { job, event }).then(() => signPlan(draft, signed));
}

/** D24: envelope (if its filter failed when the event was emitted), headers, arguments. */
async function filterDraft(
  { host: { hooks }, store }: PlanParts,
  draft: Draft,
  { job, event }: { readonly job: Job; readonly event: StoredEvent },
): Promise<void> {
  if (event.needsEnvelopeFilter && job.bodyOverride === null) {
    const envelope = JSON.parse(event.body.toString()) as Envelope;
    const context = JSON.parse((await store.readContext(event.id)) ?? '{}') as EventContext;
    draft.body = Buffer.from(
      JSON.stringify(
        await hooks.applyFiltersAsync('svc_event_webhooks_envelope', envelope, envelope.type, envelope.data, context),
      ),
    );
    draft.isNew = true;
  }
  if (hooks.hasFilter('svc_event_webhooks_request_headers') !== false) {
    const filtered = await hooks.applyFiltersAsync(
      'svc_event_webhooks_request_headers',
      draft.headers,
      JSON.parse(draft.body.toString()) as Envelope,
      job.uuid,
    );
    if (typeof filtered !== 'object' || (filtered as unknown) === null) throw new Error('it returned no headers.');
    draft.headers = { ...filtered };
  }
  if (hooks.hasFilter('svc_event_webhooks_request_args') === false) return;
  const { headers, timeout, redirects } = draft;
  const text = draft.body.toString();
  const args = await hooks.applyFiltersAsync(
    'svc_event_webhooks_request_args',
    { timeout: timeout / 1000, redirection: redirects, headers, body: text },
    headers,
    text,
  );
  draft.headers = { ...args.headers };
  if (!isCount(args.timeout) || !isCount(args.redirection))
    throw new Error('its timeout or redirection is not a number.');
  draft.timeout = Math.min(maxTimeout, Math.max(1, Math.round(args.timeout * 1000)));
  draft.redirects = Math.floor(args.redirection);
  if (job.bodyOverride === null && args.body !== text) {
    draft.body = Buffer.from(args.body);
    draft.isNew = true;
  }
}

interface Signed {
  readonly destination: Destination;
  readonly event: StoredEvent;
  readonly timestamp: string;
  /** No custom, filtered or Standard Webhooks headers. */
  readonly hasStandardHeaders: boolean;
}

/** Runs after the filters, over the body that is sent (D24). */
function signPlan(
  { headers, body, isNew, timeout, redirects }: Draft,
  { destination: { target, secrets }, event, timestamp, hasStandardHeaders }: Signed,
): AttemptPlan {
  const [secret] = secrets;
  if (secret !== undefined) {
    headers['X-SVC-Signature'] = sign(secret, timestamp, body);
    headers['X-SVC-Signature-Alg'] = 'sha256';
    if (target.standardWebhooks) {
      headers['webhook-id'] = event.uuid;
      headers['webhook-timestamp'] = timestamp;
      headers['webhook-signature'] = signStandard(secrets, { id: event.uuid, timestamp, body });
    }
  }
  return { target, body, isNew, headers, extra: hasStandardHeaders ? null : headers, timestamp, timeout, redirects };
}

export const isCount = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value) && value >= 0;

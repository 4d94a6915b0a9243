import { storableJson } from '#plugin-api';
import type { AttemptOutcome } from './delivery/deliver.contract.ts';
import type { AttemptPlan } from './attempt-plan.ts';

/** One attempt as the delivery log stores it, in JSON. */
export interface AttemptRecord {
  readonly at: number;
  readonly ms: number;
  readonly status: number | null;
  readonly failure: string | null;
  readonly error: string | null;
  readonly url: string;
  readonly time: string;
  readonly sig: string | null;
  /** null: the standard headers of every delivery. */
  readonly headers: Readonly<Record<string, string>> | null;
  readonly answer: Readonly<Record<string, string>>;
  readonly text: string;
  readonly next: number | null;
}

/**
 * Formats the record of an attempt. Concatenated by hand, because one is written per delivery and most values need no
 * escaping. `next` comes last: the stores search for it there.
 */
export function formatRecord(
  { headers, extra, timestamp }: AttemptPlan,
  outcome: AttemptOutcome,
  { startedAt, delay }: { readonly startedAt: number; readonly delay: number | null },
): string {
  const signature = headers['X-SVC-Signature'];
  const failure = outcome.failure === null ? 'null' : `"${outcome.failure}"`;
  const error = outcome.error === null ? 'null' : storableJson(outcome.error);
  return (
    `{"at":${String(startedAt)},"ms":${String(outcome.duration)},"status":${String(outcome.status)},` +
    `"failure":${failure},"error":${error},"url":${storableJson(outcome.finalUrl)},"time":"${timestamp}",` +
    `"sig":${signature === undefined ? 'null' : JSON.stringify(signature)},` +
    `"headers":${extra === null ? 'null' : storableJson(redactSecrets(extra))},` +
    `"answer":${storableJson(outcome.responseHeaders)},"text":${storableJson(outcome.responseBody)},` +
    `"next":${String(delay)}}`
  );
}

/** Headers that the service itself sends (contract 6.3). Any other one may hold a secret. */
const ownHeaders = /^(?:accept|content-type|user-agent|x-svc-[\w-]+|webhook-(?:id|timestamp|signature))$/i;

function redactSecrets(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, ownHeaders.test(name) ? value : '[redacted]']),
  );
}

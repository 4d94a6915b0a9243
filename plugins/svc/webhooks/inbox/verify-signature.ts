import { timingSafeEqual } from 'node:crypto';
import { sign } from '../sign.ts';

/** What a receiver finds when it verifies a request (contract 6.6). */
export type Verdict = 'verified' | 'wrong' | 'unsigned' | 'no-secret';

export interface SignedRequest {
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
export function verifySignature({ headers, body }: SignedRequest, secrets: readonly string[]): Verdict {
  const [signature, timestamp] = [headers['x-svc-signature'] ?? '', headers['x-svc-timestamp'] ?? ''];
  if (signature === '') return 'unsigned';
  if (secrets.length === 0) return 'no-secret';
  return secrets.some((secret) => isSame(sign(secret, timestamp, body), signature)) ? 'verified' : 'wrong';
}

function isSame(expected: string, given: string): boolean {
  const [left, right] = [Buffer.from(expected), Buffer.from(given)];
  return left.length === right.length && timingSafeEqual(left, right);
}

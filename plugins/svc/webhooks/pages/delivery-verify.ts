import { timingSafeEqual } from 'node:crypto';
import { sign } from '../sign.ts';

export interface Verified {
  readonly match: boolean;
  /** One or two sentences. */
  readonly text: string;
}

/** What was sent: header value, timestamp and body of one attempt. */
export interface Signed {
  /** '' where none was sent. */
  readonly signature: string;
  readonly timestamp: string;
  readonly body: string;
}

/**
 * Whether a secret made a signature (contract 6.6), and where it did not, what may be the matter. The script of the page
 * finds the same in the browser; this is for browsers without it. Nothing is kept.
 */
export function verifySecret(secret: string, { signature, timestamp, body }: Signed): Verified {
  if (secret === '') return { match: false, text: 'Paste a secret first.' };
  if (signature === '') return { match: false, text: verdicts.unsigned };
  const bytes = Buffer.from(body);
  const fits = (key: string): boolean => isSame(sign(key, timestamp, bytes), signature);
  if (fits(secret)) return { match: true, text: verdicts.match };
  if (secret !== secret.trim() && fits(secret.trim())) return { match: false, text: verdicts.spaces };
  return { match: false, text: verdicts.other };
}

/** Also the words of the page's script. */
export const verdicts = {
  match: 'It matches: this secret signed these bytes.',
  unsigned: 'There is nothing to compare: no secret was set when this was sent, so it carries no signature.',
  spaces:
    'It does not match as pasted, but does without the spaces or line breaks around it. Check how your receiver reads its secret.',
  other:
    'It does not match: another secret signed these bytes. It may have been changed or rotated since, or the endpoint has a secret of its own.',
} as const;

function isSame(expected: string, given: string): boolean {
  const [left, right] = [Buffer.from(expected), Buffer.from(given)];
  return left.length === right.length && timingSafeEqual(left, right);
}

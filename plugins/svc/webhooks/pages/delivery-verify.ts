import { isSameSecret } from '#plugin-api';
import { sign } from '../signing-secret.ts';

export interface Verified {
  readonly match: boolean;
  /** One or two sentences. */
  readonly text: string;
}

/** Signature, timestamp and body of one attempt. */
export interface Signed {
  /** Empty if the attempt was unsigned. */
  readonly signature: string;
  readonly timestamp: string;
  readonly body: string;
}

/**
 * Checks whether a secret created a signature (contract 6.6), and if not, why that may be. For browsers without JavaScript;
 * the script of the page does the same. The secret is not stored.
 */
export function verifySecret(secret: string, { signature, timestamp, body }: Signed): Verified {
  if (secret === '') return { match: false, text: 'Paste a secret first.' };
  if (signature === '') return { match: false, text: verdicts.unsigned };
  const bytes = Buffer.from(body);
  const matches = (key: string): boolean => isSameSecret(sign(key, timestamp, bytes), signature);
  if (matches(secret)) return { match: true, text: verdicts.match };
  if (secret !== secret.trim() && matches(secret.trim())) return { match: false, text: verdicts.spaces };
  return { match: false, text: verdicts.other };
}

/** Also used by the script of the page. */
export const verdicts = {
  match: 'Match: this secret created the signature.',
  unsigned: 'This delivery has no signature: no secret was set when it was sent.',
  spaces:
    'No match as pasted, but a match without the surrounding spaces or line breaks. Check how your receiver reads its secret.',
  other:
    'No match: another secret created the signature. The secret may have been changed or rotated since, or the endpoint has its own.',
} as const;

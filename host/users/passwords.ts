import { randomInt } from 'node:crypto';
import { normalizeText } from '#plugin-api';
import { hash, verify } from './argon2.ts';

/** argon2id with 19 MiB, two passes and one lane: the OWASP minimum, about 20 ms. */
const settings = { memory: 19_456, passes: 2, parallelism: 1 } as const;

/** Hash of an unused password with the same `settings`, so that verifying against it takes as long as a real one. */
export const dummyHash =
  '$argon2id$v=19$m=19456,t=2,p=1$od5XRZItucVSEuydIO375g$a8ciF4bs5OcJB/Tj6O9m45+N7TqxyQVeIzNMXR4W67s';

/** An argon2id hash in PHC format (D3). */
export function hashPassword(password: string): Promise<string> {
  return hash(normalizeText(password, 'NFKC'), settings);
}

/**
 * @param stored null for an unknown user: takes the same time and returns false.
 */
export async function verifyPassword(stored: string | null, password: string): Promise<boolean> {
  const matches = await verify(stored ?? dummyHash, normalizeText(password, 'NFKC'));
  return matches && stored !== null;
}

/** Without characters that look alike. */
const alphabet = 'abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/** Generates a random password. 24 characters have 139 bits of entropy. */
export function generatePassword(length = 24): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
}

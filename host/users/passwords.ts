import { randomInt } from 'node:crypto';
import { normalizeText } from '#plugin-api';
import * as crypto from 'node:crypto';
import { promisify } from 'node:util';

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

interface Argon2Settings {
  /** KiB. */
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
}

const lengths = { nonce: 16, tag: 32 } as const;

/** An argon2id hash in PHC format. Node has it since 24.7; before that the package does it. */
export async function hash(password: string, settings: Argon2Settings): Promise<string> {
  const { memory, passes, parallelism } = settings;
  if (!('argon2' in crypto)) {
    const argon2 = await import('@node-rs/argon2');
    return argon2.hash(password, { memoryCost: memory, timeCost: passes, parallelism });
  }
  const nonce = crypto.randomBytes(lengths.nonce);
  const tag = await derive(password, { ...settings, nonce, length: lengths.tag });
  const [salt, text] = [nonce, tag].map((bytes) => bytes.toString('base64').replaceAll('=', ''));
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${salt}$${text}`;
}

/** Whether the password has the hash, whose settings may be any. @throws Error for what is no argon2id hash of version 19. */
export async function verify(stored: string, password: string): Promise<boolean> {
  if (!('argon2' in crypto)) return (await import('@node-rs/argon2')).verify(stored, password);
  const [, memory, passes, parallelism, salt = '', text = ''] =
    /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/.exec(stored) ?? [];
  if (text === '') throw new Error('A stored password is no argon2id hash.');
  const expected = Buffer.from(text, 'base64');
  const settings = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  const nonce = Buffer.from(salt, 'base64');
  return crypto.timingSafeEqual(expected, await derive(password, { ...settings, nonce, length: expected.length }));
}

interface Derivation extends Argon2Settings {
  readonly nonce: Buffer;
  /** Bytes. */
  readonly length: number;
}

function derive(message: string, { length: tagLength, ...settings }: Derivation): Promise<Buffer> {
  return promisify(crypto.argon2)('argon2id', { ...settings, message, tagLength });
}

import * as crypto from 'node:crypto';
import { promisify } from 'node:util';

export interface Argon2Settings {
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

import { randomBytes } from 'node:crypto';
import type { OptionsApi, SecretsApi } from '#plugin-api';
import { apiKeyDigest, type ApiKeyReader } from '../kit/require-api-key.ts';
import { invalidFields } from '../kit/field-errors.ts';
import { isUnbound, maskSecret } from './secret-reader.ts';
import { optionNames } from './names.ts';
import type { SecretReader } from './secret-reader.ts';

/** The REST API key of the site (contract 5). Every node sees a change within a second. */
export interface RestKey extends ApiKeyReader {
  /** Saves a key without white space at its ends. @throws RestError 400 with the field `key` if it is shorter than 24 or too long */
  set(value: string): Promise<void>;
  /** Saves a new key of 256 random bits and returns it. It cannot be read again. */
  generate(): Promise<string>;
  /** Disables REST access. */
  clear(): Promise<void>;
  /** Encrypts a key of an earlier version again, bound to its option (D35). */
  bind(): Promise<void>;
  /** For example `ends in abcd`; null if no key is set. */
  masked(): Promise<string | null>;
}

export interface RestKeyParts {
  readonly options: OptionsApi;
  readonly secrets: SecretsApi;
  readonly read: SecretReader;
  readonly random?: (bytes: number) => Buffer;
}

const maxLength = 1000;
/** Shorter keys could be guessed. Keys saved by earlier versions keep working. */
const minLength = 24;

export function createRestKey({ options, secrets, read, random = randomBytes }: RestKeyParts): RestKey {
  let current: { readonly stored: string; readonly digest: Buffer | null } | null = null;

  async function stored(): Promise<string> {
    const value = await options.get<unknown>(optionNames.restKey, '');
    return typeof value === 'string' ? value : '';
  }

  async function set(value: string): Promise<void> {
    const key = value.trim();
    if (key === '') throw invalidFields({ key: 'Enter a key, or generate one.' });
    if (key.length < minLength)
      throw invalidFields({ key: `Use at least ${minLength} characters for the key, or generate one.` });
    if (key.length > maxLength) throw invalidFields({ key: `The key may have at most ${maxLength} characters.` });
    await options.update(optionNames.restKey, secrets.encrypt(key, optionNames.restKey));
  }

  return {
    async digest() {
      const encrypted = await stored();
      if (encrypted !== current?.stored) {
        const plain = encrypted === '' ? null : read(encrypted, optionNames.restKey);
        current = { stored: encrypted, digest: plain === null || plain.trim() === '' ? null : apiKeyDigest(plain) };
      }
      return current.digest;
    },
    set,
    async generate() {
      const key = `svc_${random(32).toString('base64url')}`;
      await set(key);
      return key;
    },
    async clear() {
      await options.update(optionNames.restKey, '');
    },
    async bind() {
      const encrypted = await stored();
      const plain = isUnbound(encrypted) ? read(encrypted, optionNames.restKey) : null;
      if (plain !== null)
        await options.compareAndSet(optionNames.restKey, encrypted, secrets.encrypt(plain, optionNames.restKey));
    },
    async masked() {
      const encrypted = await stored();
      if (encrypted === '') return null;
      const plain = read(encrypted, optionNames.restKey);
      return plain === null ? 'unreadable. Set it again' : maskSecret(plain);
    },
  };
}

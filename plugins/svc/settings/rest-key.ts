import { randomBytes } from 'node:crypto';
import type { OptionsApi, SecretsApi } from '#plugin-api';
import { apiKeyDigest, type ApiKeyReader } from '../kit/require-api-key.ts';
import { invalidFields } from '../kit/field-errors.ts';
import { mask } from './mask.ts';
import { optionNames } from './names.ts';
import type { SecretReader } from './secret-reader.ts';

/** The one REST API key of the site (contract 5). A change is seen by every node within a second. */
export interface RestKey extends ApiKeyReader {
  /** Any value that is not blank; white space at its ends is cut off. Throws invalid fields (`key`). */
  set(value: string): Promise<void>;
  /** Makes and saves a key of 256 random bits; the answer is the only time it can be read. */
  generate(): Promise<string>;
  /** Disables REST access. */
  clear(): Promise<void>;
  /** Such as `ends in abcd`; null while there is none. */
  masked(): Promise<string | null>;
}

export interface RestKeyParts {
  readonly options: OptionsApi;
  readonly secrets: SecretsApi;
  readonly read: SecretReader;
  readonly random?: (bytes: number) => Buffer;
}

const longest = 1000;

export function createRestKey({ options, secrets, read, random = randomBytes }: RestKeyParts): RestKey {
  let current: { readonly stored: string; readonly digest: Buffer | null } | null = null;

  async function stored(): Promise<string> {
    const value = await options.get<unknown>(optionNames.restKey, '');
    return typeof value === 'string' ? value : '';
  }

  async function set(value: string): Promise<void> {
    const key = value.trim();
    if (key === '') throw invalidFields({ key: 'Type a key, or generate one.' });
    if (key.length > longest) throw invalidFields({ key: `The key may have at most ${longest} characters.` });
    await options.update(optionNames.restKey, secrets.encrypt(key));
  }

  return {
    async digest() {
      const encrypted = await stored();
      if (encrypted !== current?.stored) {
        const plain = encrypted === '' ? null : read(encrypted);
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
    async masked() {
      const encrypted = await stored();
      if (encrypted === '') return null;
      const plain = read(encrypted);
      return plain === null ? 'cannot be read, set it again' : mask(plain);
    },
  };
}

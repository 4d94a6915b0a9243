import { randomBytes } from 'node:crypto';
import { type Logger, type OptionsApi, type SecretsApi, type SecretStore, invalidFields } from '#plugin-api';
import { apiKeyDigest, type ApiKeyReader } from '../kit/require-api-key.ts';
import { maskSecret, unreadableText } from './secret-reader.ts';
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
  /** For example `ends in abcd`; null if no key is set. */
  masked(): Promise<string | null>;
  readonly secretStore: SecretStore;
}

export interface RestKeyParts {
  readonly options: OptionsApi;
  readonly secrets: SecretsApi;
  readonly read: SecretReader;
  readonly log: Pick<Logger, 'warn'>;
  readonly random?: (bytes: number) => Buffer;
}

const maxLength = 1000;
/** Shorter keys could be guessed. Keys saved by earlier versions keep working. */
const minLength = 24;

export function createRestKey({ options, secrets, read, log, random = randomBytes }: RestKeyParts): RestKey {
  const stored = options.computed([optionNames.restKey], (value) => (typeof value === 'string' ? value : ''));
  let current: { readonly stored: string; readonly digest: Buffer | null } | null = null;

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
      if (encrypted === current?.stored) return current.digest;
      const plain = encrypted === '' ? '' : read(encrypted, optionNames.restKey);
      const digest = plain === null || plain.trim() === '' ? null : apiKeyDigest(plain);
      // What cannot be read now may be readable later: the key file may be restored.
      current = plain === null ? null : { stored: encrypted, digest };
      return digest;
    },
    async reportRefusal() {
      const encrypted = await stored();
      if (encrypted !== '' && read(encrypted, optionNames.restKey) === null)
        log.warn(
          'Refused a request because the saved REST API key cannot be read. Restore SECRET_KEY, or set the key again',
          {
            event: 'rest_key_unreadable',
          },
        );
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
    secretStore: {
      async rewrite(change) {
        const encrypted = await stored();
        if (encrypted === '') return;
        const changed = change({ label: 'REST API key', encrypted, context: optionNames.restKey });
        if (changed !== encrypted && !(await options.compareAndSet(optionNames.restKey, encrypted, changed)))
          throw new Error('The REST API key was changed in the meantime.');
      },
    },
    async masked() {
      const encrypted = await stored();
      if (encrypted === '') return null;
      const plain = read(encrypted, optionNames.restKey);
      return plain === null ? unreadableText : maskSecret(plain);
    },
  };
}

import { randomBytes } from 'node:crypto';
import {
  type HealthResult,
  type HostApi,
  type Logger,
  type OptionsApi,
  type SecretsApi,
  type SecretStore,
  invalidFields,
} from '#plugin-api';
import { apiKeyDigest, type ApiKeyReader } from '../kit/require-api-key.ts';
import { createSecretReader, maskSecret, unreadableText } from './secret-reader.ts';
import { optionNames } from './names.ts';
import type { SecretReader } from './secret-reader.ts';

/** The REST API key of the site (contract 5). Every node sees a change within a second. */
export interface RestKey extends ApiKeyReader {
  /**
   * Saves a key without white space at its ends: any that is not empty (contract 5.2, D39).
   *
   * @returns a warning if it is so short that it could be guessed, else null
   * @throws RestError 400 with the field `key` if it is empty or longer than 1,000 characters
   */
  set(value: string): Promise<string | null>;
  /** The same warning for the saved key. */
  warning(): Promise<string | null>;
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
/** Shorter keys could be guessed. They are accepted with a warning (D39); wrong keys are throttled in any case. */
const safeLength = 24;

const warningOf = (key: string): string | null =>
  key !== '' && key.length < safeLength
    ? `The REST API key has fewer than ${safeLength} characters and could be guessed. Generate a new one.`
    : null;

/** What `doctor` and Site Health say about the saved key (D39). */
export async function checkRestKey({
  options,
  secrets,
  log,
}: Pick<HostApi, 'options' | 'secrets' | 'log'>): Promise<HealthResult[]> {
  const warning = await createRestKey({ options, secrets, read: createSecretReader({ secrets, log }), log }).warning();
  return warning === null ? [] : [{ status: 'recommended', label: 'The REST API key is short', description: warning }];
}

export function createRestKey({ options, secrets, read, log, random = randomBytes }: RestKeyParts): RestKey {
  const stored = options.computed([optionNames.restKey], (value) => (typeof value === 'string' ? value : ''));
  let current: { readonly stored: string; readonly digest: Buffer | null } | null = null;

  async function set(value: string): Promise<string | null> {
    const key = value.trim();
    if (key === '') throw invalidFields({ key: 'Enter a key, or generate one.' });
    if (key.length > maxLength) throw invalidFields({ key: `The key may have at most ${maxLength} characters.` });
    await options.update(optionNames.restKey, secrets.encrypt(key, optionNames.restKey));
    return warningOf(key);
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
    async warning() {
      const encrypted = await stored();
      return warningOf(encrypted === '' ? '' : (read(encrypted, optionNames.restKey)?.trim() ?? ''));
    },
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

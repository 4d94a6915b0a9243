import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes, scryptSync } from 'node:crypto';
import type { SecretsApi } from '#plugin-api';
import { readOrCreateKeyFile } from './key-file.ts';

export interface SecretsDependencies {
  /** `SECRET_KEY`; null: the key file in the data folder, created if missing. */
  readonly secretKey: string | null;
  readonly dataDir: string;
  /** Receives every plain text. */
  readonly redactor: { add(secret: string): void };
}

export interface Secrets extends SecretsApi {
  /**
   * A key of 32 bytes for one purpose, for example `nonces`; the same on every node and after each start.
   * One key reveals nothing about the others.
   */
  deriveKey(purpose: string): Buffer;
  /**
   * Encrypts text that is not a secret as a whole, such as a mail, under the key of a purpose. Unlike `encrypt`, it does not
   * redact the text from log lines.
   */
  seal(purpose: string, text: string): string;
  /** Returns the text. Throws like `decrypt`. */
  unseal(purpose: string, sealed: string): string;
  /** Whether the text looks like an encrypted secret. */
  isEncrypted(text: string): boolean;
}

const prefix = 'enc:v1:';
/** Sizes in bytes of the parts before the cipher text. */
const sizes = { keyId: 4, nonce: 12, tag: 16 } as const;

const anotherKey =
  'This secret was encrypted with another key. Restore the previous SECRET_KEY (or secret.key in DATA_DIR), ' +
  'or enter the secret again.';
const damaged = 'This stored secret is damaged and cannot be read. Enter it again.';

/**
 * Secrets at rest (D3): AES-256-GCM, `enc:v1:` and base64url of key id, nonce, tag and cipher text. The key comes from
 * `SECRET_KEY` through scrypt, or from the key file through HKDF; it is derived on first use, which takes about 50 ms with
 * `SECRET_KEY`. All nodes of a site need the same key.
 */
export function createSecrets({ secretKey, dataDir, redactor }: SecretsDependencies): Secrets {
  let root: Buffer | null = null;
  const derived = new Map<string, Buffer>();

  function deriveKey(purpose: string): Buffer {
    const known = derived.get(purpose);
    if (known) return known;
    root ??= secretKey === null ? readOrCreateKeyFile(dataDir) : deriveRoot(secretKey);
    const key = Buffer.from(hkdfSync('sha256', root, 'svc-host', purpose, 32));
    derived.set(purpose, key);
    return key;
  }

  return {
    deriveKey,
    seal: (purpose, text) => seal(deriveKey(purpose), text).toString('base64url'),
    unseal: (purpose, sealed) => open(deriveKey(purpose), Buffer.from(sealed, 'base64url')),
    isEncrypted: (text) => text.startsWith(prefix),
    encrypt(plain) {
      redactor.add(plain);
      return prefix + seal(deriveKey('secrets'), plain).toString('base64url');
    },
    decrypt(encrypted) {
      if (!encrypted.startsWith(prefix))
        throw new Error('This text is not an encrypted secret. Enter the secret again.');
      const plain = open(deriveKey('secrets'), Buffer.from(encrypted.slice(prefix.length), 'base64url'));
      redactor.add(plain);
      return plain;
    },
  };
}

let lastRoot: { readonly secretKey: string; readonly root: Buffer } | null = null;

/**
 * The salt is fixed because nodes share only `SECRET_KEY`; scrypt makes guessing a weak key expensive. The last result is
 * cached for tests, which start many hosts with one key.
 */
function deriveRoot(secretKey: string): Buffer {
  if (lastRoot?.secretKey !== secretKey)
    lastRoot = { secretKey, root: scryptSync(secretKey, 'svc-host-secret-key', 32, { N: 16_384, r: 8, p: 1 }) };
  return lastRoot.root;
}

function seal(key: Buffer, plain: string): Buffer {
  const nonce = randomBytes(sizes.nonce);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(prefix));
  const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return Buffer.concat([keyId(key), nonce, cipher.getAuthTag(), text]);
}

function open(key: Buffer, sealed: Buffer): string {
  const part = (from: number, length: number): Buffer => sealed.subarray(from, from + length);
  if (sealed.length < sizes.keyId + sizes.nonce + sizes.tag) throw new Error(damaged);
  if (!part(0, sizes.keyId).equals(keyId(key))) throw new Error(anotherKey);
  const nonce = part(sizes.keyId, sizes.nonce);
  const tag = part(sizes.keyId + sizes.nonce, sizes.tag);
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: sizes.tag })
      .setAAD(Buffer.from(prefix))
      .setAuthTag(tag);
    return (
      decipher.update(sealed.subarray(sizes.keyId + sizes.nonce + sizes.tag), undefined, 'utf8') +
      decipher.final('utf8')
    );
  } catch (error) {
    throw new Error(damaged, { cause: error });
  }
}

/** Distinguishes a wrong key from damaged text without revealing the key. */
function keyId(key: Buffer): Buffer {
  return createHash('sha256').update('key-id').update(key).digest().subarray(0, sizes.keyId);
}

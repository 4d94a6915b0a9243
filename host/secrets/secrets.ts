import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  scryptSync,
} from 'node:crypto';
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
}

/** `movable` has no context. */
const prefixes = { movable: 'enc:v1:', bound: 'enc:v2:' } as const;
/** Sizes in bytes of the parts before the cipher text. */
const sizes = { keyId: 4, contextId: 4, nonce: 12, tag: 16 } as const;

const anotherKey =
  'This secret was encrypted with another key. Restore the previous SECRET_KEY (or secret.key in DATA_DIR), ' +
  'or enter the secret again.';
const anotherContext =
  'This secret was saved for another setting or another address and cannot be used here. Enter it again.';
const damaged = 'This stored secret is damaged and cannot be read. Enter it again.';

/**
 * Secrets at rest (D3): AES-256-GCM, `enc:v2:` and base64url of key id, context id, nonce, tag and cipher text, with prefix and
 * context as additional authenticated data (D35). `enc:v1:` has no context and no id of one. The key comes from
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
    seal: (purpose, text) => seal(unbound(deriveKey(purpose)), text).toString('base64url'),
    unseal: (purpose, sealed) => open(unbound(deriveKey(purpose)), Buffer.from(sealed, 'base64url')),
    encrypt(plain, context) {
      redactor.add(plain);
      const prefix = context === undefined ? prefixes.movable : prefixes.bound;
      return prefix + seal({ key: deriveKey('secrets'), prefix, context }, plain).toString('base64url');
    },
    decrypt(encrypted, context) {
      const prefix = Object.values(prefixes).find((known) => encrypted.startsWith(known));
      if (prefix === undefined) throw new Error('This text is not an encrypted secret. Enter the secret again.');
      const sealed = Buffer.from(encrypted.slice(prefix.length), 'base64url');
      const plain = open(
        { key: deriveKey('secrets'), prefix, context: prefix === prefixes.bound ? (context ?? '') : undefined },
        sealed,
      );
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

/** What a text is sealed with. `context` undefined: the text can be moved. */
interface Seal {
  readonly key: Buffer;
  readonly prefix: string;
  readonly context: string | undefined;
}

function unbound(key: Buffer): Seal {
  return { key, prefix: prefixes.movable, context: undefined };
}

function seal(parts: Seal, plain: string): Buffer {
  const { key, context } = parts;
  const nonce = randomBytes(sizes.nonce);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(authenticatedData(parts));
  const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return Buffer.concat([keyId(key), contextId(key, context), nonce, cipher.getAuthTag(), text]);
}

function open(parts: Seal, sealed: Buffer): string {
  const { key, context } = parts;
  let position = 0;
  const next = (length: number): Buffer => sealed.subarray(position, (position += length));
  const expected = [keyId(key), contextId(key, context)] as const;
  if (sealed.length < expected[0].length + expected[1].length + sizes.nonce + sizes.tag) throw new Error(damaged);
  if (!next(expected[0].length).equals(expected[0])) throw new Error(anotherKey);
  if (!next(expected[1].length).equals(expected[1])) throw new Error(anotherContext);
  const [nonce, tag] = [next(sizes.nonce), next(sizes.tag)];
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: sizes.tag })
      .setAAD(authenticatedData(parts))
      .setAuthTag(tag);
    return decipher.update(sealed.subarray(position), undefined, 'utf8') + decipher.final('utf8');
  } catch (error) {
    throw new Error(damaged, { cause: error });
  }
}

function authenticatedData({ prefix, context = '' }: Seal): Buffer {
  return Buffer.from(prefix + context);
}

/** Distinguishes a wrong context from damaged text; empty without a context. */
function contextId(key: Buffer, context: string | undefined): Buffer {
  if (context === undefined) return Buffer.alloc(0);
  return createHmac('sha256', key).update('context').update(context).digest().subarray(0, sizes.contextId);
}

/** Distinguishes a wrong key from damaged text without revealing the key. */
function keyId(key: Buffer): Buffer {
  return createHash('sha256').update('key-id').update(key).digest().subarray(0, sizes.keyId);
}

import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  randomBytes,
  hkdfSync,
  scryptSync,
} from 'node:crypto';
import type { SecretsApi } from '#plugin-api';
import { createSecretStores, type SecretStores } from './secret-stores.ts';
import { keyFileVersion, parseKeys, readKeyFile, readOrCreateKeyFile } from './key-file.ts';

export interface SecretsDependencies extends KeyringDependencies {
  /** Receives every plain text. */
  readonly redactor: { add(secret: string): void };
}

export interface Secrets extends SecretsApi {
  /**
   * A key of 32 bytes for one purpose, for example `nonces`; the same on every node and after each start.
   * One key reveals nothing about the others.
   */
  deriveKey(purpose: string): Buffer;
  /** Keys of a purpose from before a rotation that is not finished, newest first. */
  previousKeys(purpose: string): readonly Buffer[];
  /**
   * Encrypts text that is not a secret as a whole, such as a mail, under the key of a purpose. Unlike `encrypt`, it does not
   * redact the text from log lines.
   */
  seal(purpose: string, text: string): string;
  /** Returns the text. Throws like `decrypt`. */
  unseal(purpose: string, sealed: string): string;
  /** See `SecretStores`. */
  readonly unreadable: SecretStores['unreadable'];
  readonly stores: SecretStores['all'];
  /** Returns the encrypted text if the key in use encrypted it, otherwise encrypts it again. Throws like `decrypt`. */
  renew(encrypted: string, context?: string): string;
  /** Like `renew`, for sealed texts. */
  reseal(purpose: string, sealed: string): string;
  /** Whether a text contains an encrypted one that only a previous key can read. */
  usesPrevious(text: string): boolean;
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
 * `SECRET_KEY` through scrypt, or from the key file through HKDF. All nodes of a site need the same key.
 */
export function createSecrets({ redactor, ...sources }: SecretsDependencies): Secrets {
  const keyring = createKeyring(sources);
  const purpose = 'secrets';

  function decrypt(encrypted: string, context?: string): string {
    const prefix = Object.values(prefixes).find((known) => encrypted.startsWith(known));
    if (prefix === undefined) throw new Error('This text is not an encrypted secret. Enter the secret again.');
    const sealed = Buffer.from(encrypted.slice(prefix.length), 'base64url');
    return open(keyring, { purpose, prefix, context: prefix === prefixes.bound ? (context ?? '') : undefined }, sealed);
  }

  function canDecrypt(encrypted: string, context?: string): boolean {
    try {
      decrypt(encrypted, context);
      return true;
    } catch {
      return false;
    }
  }

  const stores = createSecretStores(canDecrypt);
  return {
    deriveKey: keyring.derive,
    seal: (purpose, text) => seal(keyring.derive(purpose), unbound(purpose), text).toString('base64url'),
    unseal: (purpose, sealed) => open(keyring, unbound(purpose), Buffer.from(sealed, 'base64url')),
    encrypt(plain, context) {
      redactor.add(plain);
      const prefix = context === undefined ? prefixes.movable : prefixes.bound;
      return prefix + seal(keyring.derive(purpose), { purpose, prefix, context }, plain).toString('base64url');
    },
    decrypt(encrypted, context) {
      const plain = decrypt(encrypted, context);
      redactor.add(plain);
      return plain;
    },
    addStore: stores.add,
    unreadable: stores.unreadable,
    previousKeys: keyring.previous,
    stores: stores.all,
    renew(encrypted, context) {
      const bytes = Buffer.from(encrypted.slice(prefixes.bound.length), 'base64url');
      return isOf(keyring.derive(purpose), bytes) ? encrypted : this.encrypt(this.decrypt(encrypted, context), context);
    },
    reseal(given, sealed) {
      return isOf(keyring.derive(given), Buffer.from(sealed, 'base64url'))
        ? sealed
        : this.seal(given, this.unseal(given, sealed));
    },
    usesPrevious: (text) =>
      (text.match(/enc:v[12]:[\w-]+/g) ?? []).some((found) => {
        const bytes = Buffer.from(found.slice(prefixes.bound.length), 'base64url');
        return keyring.previous(purpose).some((key) => isOf(key, bytes));
      }),
  };
}

/** Whether the key made the text. */
function isOf(key: Buffer, sealed: Buffer): boolean {
  return keyId(key).equals(sealed.subarray(0, sizes.keyId));
}

/** What a text is sealed for. `context` undefined: the text can be moved. */
interface Seal {
  readonly purpose: string;
  readonly prefix: string;
  readonly context: string | undefined;
}

function unbound(purpose: string): Seal {
  return { purpose, prefix: prefixes.movable, context: undefined };
}

function seal(key: Buffer, parts: Seal, plain: string): Buffer {
  const nonce = randomBytes(sizes.nonce);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(authenticatedData(parts));
  const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return Buffer.concat([keyId(key), contextId(key, parts.context), nonce, cipher.getAuthTag(), text]);
}

function open(keyring: Keyring, parts: Seal, sealed: Buffer): string {
  const contextSize = parts.context === undefined ? 0 : sizes.contextId;
  let position = 0;
  const next = (length: number): Buffer => sealed.subarray(position, (position += length));
  if (sealed.length < sizes.keyId + contextSize + sizes.nonce + sizes.tag) throw new Error(damaged);
  const id = next(sizes.keyId);
  const key = keyring.find(parts.purpose, (candidate) => isOf(candidate, id));
  if (key === null) throw new Error(anotherKey);
  if (!next(contextSize).equals(contextId(key, parts.context))) throw new Error(anotherContext);
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

interface KeyringDependencies {
  /** `SECRET_KEY`; null: the key file in the data folder, created if missing. */
  readonly secretKey: string | null;
  /** `SECRET_KEY_PREVIOUS`: what it encrypted can be read. Not used with the key file, which can hold several keys. */
  readonly previousSecretKey?: string | null;
  readonly dataDir: string;
}

/**
 * The keys of the site. A key file that was replaced is read again at once: all processes that share it use the same key, and
 * a running host can use a restored one.
 */
interface Keyring {
  /** The key that a purpose uses now, 32 bytes. One key reveals nothing about those of other purposes. */
  derive(purpose: string): Buffer;
  /** Keys of a purpose that are still read with, but not used any more, newest first. */
  previous(purpose: string): readonly Buffer[];
  /** The key of a purpose that `isKey` accepts, or null. */
  find(purpose: string, isKey: (key: Buffer) => boolean): Buffer | null;
}

/** Reads the key on first use: with `SECRET_KEY` that takes about 50 ms. */
function createKeyring({ secretKey, previousSecretKey = null, dataDir }: KeyringDependencies): Keyring {
  let roots: readonly Buffer[] | null = null;
  let version: string | null = null;
  const derived = new Map<string, readonly Buffer[]>();

  /** The keys of the file. A damaged or missing file changes nothing in a process that has read it before. */
  function followFile(): readonly Buffer[] {
    const found = keyFileVersion(dataDir);
    if (roots !== null && (found === null || found === version)) return roots;
    version = found;
    const keys = roots === null ? readOrCreateKeyFile(dataDir) : readKeyFile(dataDir);
    if (keys === null || (roots !== null && isSame(keys, roots))) return roots ?? [];
    derived.clear();
    return (roots = keys);
  }

  /** The first is the one in use. */
  function keysOf(purpose: string): readonly Buffer[] {
    const current =
      secretKey === null ? followFile() : (roots ??= [...rootsOf(secretKey), ...rootsOf(previousSecretKey ?? '')]);
    const known = derived.get(purpose);
    if (known) return known;
    const keys = current.map((root) => deriveFrom(root, purpose));
    derived.set(purpose, keys);
    return keys;
  }

  return {
    derive: (purpose) => keysOf(purpose)[0] ?? Buffer.alloc(0),
    previous: (purpose) => keysOf(purpose).slice(1),
    find: (purpose, isKey) => keysOf(purpose).find(isKey) ?? null,
  };
}

function isSame(one: readonly Buffer[], other: readonly Buffer[]): boolean {
  return one.length === other.length && one.every((key, index) => other[index]?.equals(key));
}

function deriveFrom(root: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', root, 'svc-host', purpose, 32));
}

/** A text may be the content of a key file, which the site used before: what that encrypted can be read. */
function rootsOf(secretKey: string): readonly Buffer[] {
  return secretKey === '' ? [] : [deriveRoot(secretKey), ...(parseKeys(secretKey) ?? [])];
}

const knownRoots = new Map<string, Buffer>();
/** Of a site and its former key; more are used by tests, which start many hosts with one key. */
const maxKnownRoots = 4;

/**
 * The salt is fixed because nodes share only `SECRET_KEY`; scrypt makes guessing a weak key expensive. The last results are
 * cached.
 */
function deriveRoot(secretKey: string): Buffer {
  const known = knownRoots.get(secretKey);
  if (known) return known;
  if (knownRoots.size >= maxKnownRoots) knownRoots.clear();
  const root = scryptSync(secretKey, 'svc-host-secret-key', 32, { N: 16_384, r: 8, p: 1 });
  knownRoots.set(secretKey, root);
  return root;
}

import { hkdfSync, scryptSync } from 'node:crypto';
import { keyFileVersion, parseKeys, readKeyFile, readOrCreateKeyFile } from './key-file.ts';

export interface KeyringDependencies {
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
export interface Keyring {
  /** The key that a purpose uses now, 32 bytes. One key reveals nothing about those of other purposes. */
  derive(purpose: string): Buffer;
  /** Keys of a purpose that are still read with, but not used any more, newest first. */
  previous(purpose: string): readonly Buffer[];
  /** The key of a purpose that `isKey` accepts, or null. */
  find(purpose: string, isKey: (key: Buffer) => boolean): Buffer | null;
}

/** Reads the key on first use: with `SECRET_KEY` that takes about 50 ms. */
export function createKeyring({ secretKey, previousSecretKey = null, dataDir }: KeyringDependencies): Keyring {
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

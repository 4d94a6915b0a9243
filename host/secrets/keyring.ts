import { hkdfSync, scryptSync } from 'node:crypto';
import { keyFileVersion, parseKey, readKeyFile, readOrCreateKeyFile } from './key-file.ts';

export interface KeyringDependencies {
  /** `SECRET_KEY`; null: the key file in the data folder, created if missing. */
  readonly secretKey: string | null;
  readonly dataDir: string;
}

/** The keys of the site. */
export interface Keyring {
  /** The key that a purpose uses now, 32 bytes. One key reveals nothing about those of other purposes. */
  derive(purpose: string): Buffer;
  /**
   * The key of a purpose that `isKey` accepts, or null. A key file that was replaced since it was read is read again, so that
   * a running host can use a restored one.
   */
  find(purpose: string, isKey: (key: Buffer) => boolean): Buffer | null;
}

/** Reads the key on first use: with `SECRET_KEY` that takes about 50 ms. */
export function createKeyring({ secretKey, dataDir }: KeyringDependencies): Keyring {
  let root: Buffer | null = null;
  let version: string | null = null;
  const derived = new Map<string, Buffer>();

  function readRoot(): Buffer {
    if (secretKey !== null) return deriveRoot(secretKey);
    const key = readOrCreateKeyFile(dataDir);
    version = keyFileVersion(dataDir);
    return key;
  }

  function derive(purpose: string): Buffer {
    const known = derived.get(purpose);
    if (known) return known;
    root ??= readRoot();
    const key = deriveFrom(root, purpose);
    derived.set(purpose, key);
    return key;
  }

  /** Whether the key file was replaced by another key. A damaged or missing file changes nothing. */
  function reread(): boolean {
    const found = secretKey === null ? keyFileVersion(dataDir) : null;
    if (found === null || found === version) return false;
    version = found;
    const key = readKeyFile(dataDir);
    if (key === null || root === null || key.equals(root)) return false;
    root = key;
    derived.clear();
    return true;
  }

  return {
    derive,
    find(purpose, isKey) {
      const key = derive(purpose);
      if (isKey(key)) return key;
      // SECRET_KEY may be the content of a key file, which the site used before.
      const fileKey = secretKey === null ? null : parseKey(secretKey);
      const former = fileKey && deriveFrom(fileKey, purpose);
      if (former !== null && isKey(former)) return former;
      return reread() && isKey(derive(purpose)) ? derive(purpose) : null;
    },
  };
}

function deriveFrom(root: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', root, 'svc-host', purpose, 32));
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

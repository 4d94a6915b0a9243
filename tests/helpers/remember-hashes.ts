import { createRequire, syncBuiltinESMExports } from 'node:module';
import type * as Crypto from 'node:crypto';

type Tag = Parameters<Parameters<typeof Crypto.argon2>[2]>[1];

/**
 * Remembers what argon2 answered for a password. Hundreds of tests create a user with the same password and sign in with it: that is
 * 20 ms of processor time each. The settings of the hashes stay those of the product; the salt counts for nothing.
 */
export function rememberHashes(): void {
  const crypto = createRequire(import.meta.url)('node:crypto') as { argon2?: typeof Crypto.argon2 };
  const { argon2 } = crypto;
  if (argon2 === undefined) return;
  const known = new Map<string, Promise<Tag>>();
  crypto.argon2 = (algorithm, parameters, callback) => {
    const key = JSON.stringify([algorithm, { ...parameters, nonce: '' }]);
    const made =
      known.get(key) ??
      new Promise<Tag>((resolve, reject) => {
        argon2(algorithm, parameters, (error, tag) => (error === null ? resolve(tag) : reject(error)));
      });
    known.set(key, made);
    made.then(
      (tag) => callback(null, tag),
      (error: Error) => callback(error, Buffer.alloc(0)),
    );
  };
  syncBuiltinESMExports();
}

import { createRequire } from 'node:module';

type Hash = (password: string, settings?: object) => Promise<string>;
type Verify = (hash: string, password: string) => Promise<boolean>;

/**
 * Remembers what argon2 answered. Hundreds of tests create a user with the same password and sign in with it: that is
 * 20 ms of processor time each. The settings of the hashes stay those of the product; users with the same password share a
 * salt.
 */
export function rememberHashes(): void {
  const argon2 = createRequire(import.meta.url)('@node-rs/argon2') as { hash: Hash; verify: Verify };
  argon2.hash = remembering(argon2.hash);
  argon2.verify = remembering(argon2.verify);
}

function remembering<Args extends readonly unknown[], Result>(
  call: (...args: Args) => Promise<Result>,
): (...args: Args) => Promise<Result> {
  const known = new Map<string, Promise<Result>>();
  return (...args) => {
    const key = JSON.stringify(args);
    const result = known.get(key) ?? call(...args);
    known.set(key, result);
    return result;
  };
}

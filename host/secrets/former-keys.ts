import type { Clock, OptionsApi } from '#plugin-api';
import type { Secrets } from './secrets.ts';

/** Option with the keys of `lastingPurposes` from before each rotation, encrypted. */
const option = 'former_keys';

/** Purposes whose stored hashes cannot be made again with another key. */
const lastingPurposes = ['security-log', 'recovery-codes'] as const;
type LastingPurpose = (typeof lastingPurposes)[number];

const labels: Readonly<Record<LastingPurpose, string>> = {
  'security-log': 'Former key of the security log',
  'recovery-codes': 'Former key of recovery codes',
};

export interface FormerKey {
  readonly key: Buffer;
  /** The last position of the security log that it is valid for; null: the rotation is not finished. */
  readonly until: number | null;
}

/**
 * Keys that hashes from before a rotation need: of the security log and of recovery codes. They are stored under the key in use,
 * so that the root key they were derived from can be dropped. They reveal nothing about it.
 */
export interface FormerKeys {
  /** Stores the previous keys of the process. Called again, it updates `until`. */
  retire(until: number): Promise<void>;
  /** Those of the process and the stored ones. Stored keys that cannot be read are left out. */
  find(purpose: LastingPurpose): Promise<readonly FormerKey[]>;
}

interface Dependencies {
  readonly options: Pick<OptionsApi, 'get' | 'update' | 'compareAndSet'> & { refresh(name: string): void };
  readonly secrets: Secrets;
  readonly clock: Pick<Clock, 'now'>;
}

interface StoredKey {
  readonly purpose: LastingPurpose;
  /** Milliseconds since the epoch. */
  readonly retiredAt: number;
  /** JSON of `key` (base64) and `until`. */
  readonly encrypted: string;
}

export function createFormerKeys({ options, secrets, clock }: Dependencies): FormerKeys {
  const contextOf = (purpose: string): string => `${option} ${purpose}`;
  const stored = async (): Promise<readonly StoredKey[]> => {
    // Another process may have rotated the key just now, and hashes that it did not renew need these keys at once.
    options.refresh(option);
    const value = await options.get<unknown>(option, []);
    return Array.isArray(value) ? (value as readonly StoredKey[]) : [];
  };
  secrets.addStore({
    async rewrite(change) {
      const before = await stored();
      const after = before.map(({ encrypted, ...key }) => ({
        ...key,
        encrypted: change({
          label: `${labels[key.purpose]}, until ${new Date(key.retiredAt).toISOString().slice(0, 10)}`,
          encrypted,
          context: contextOf(key.purpose),
          isReported: false,
        }),
      }));
      if (after.every(({ encrypted }, index) => encrypted === before[index]?.encrypted)) return;
      if (!(await options.compareAndSet(option, before, after)))
        throw new Error('The former keys were changed in the meantime.');
    },
  });

  function read({ purpose, encrypted }: StoredKey): FormerKey | null {
    try {
      const { key, until } = JSON.parse(secrets.decrypt(encrypted, contextOf(purpose))) as {
        readonly key: string;
        readonly until: number;
      };
      return { key: Buffer.from(key, 'base64'), until };
    } catch {
      return null;
    }
  }

  return {
    async retire(until) {
      const before = await stored();
      const retired = lastingPurposes.flatMap((purpose) =>
        secrets.previousKeys(purpose).map((key) => ({ purpose, key })),
      );
      const others = before.filter((entry) => {
        const found = read(entry);
        return !retired.some(({ purpose, key }) => purpose === entry.purpose && found?.key.equals(key));
      });
      const added = retired.map(({ purpose, key }) => ({
        purpose,
        retiredAt: clock.now(),
        encrypted: secrets.encrypt(JSON.stringify({ key: key.toString('base64'), until }), contextOf(purpose)),
      }));
      await options.update(option, [...others, ...added], { autoload: false });
    },
    async find(purpose) {
      const previous = secrets.previousKeys(purpose).map((key) => ({ key, until: null }));
      const former = (await stored()).filter((entry) => entry.purpose === purpose).map(read);
      return [...previous, ...former.filter((entry) => entry !== null)];
    },
  };
}

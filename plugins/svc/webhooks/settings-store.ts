import type { HostApi } from '#plugin-api';
import type { SecretReader } from '../settings/secret-reader.ts';

export const webhooksOption = 'svc_webhooks';

/** As stored: secrets and values of headers encrypted (D3). */
export interface StoredEndpoint {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly enabled: boolean;
  readonly events: readonly string[];
  readonly internal: boolean;
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly standardWebhooks: boolean;
  readonly redirects: number;
  readonly longTail: boolean;
  readonly ordered: boolean;
}

export interface StoredSettings {
  readonly enabled: boolean;
  readonly secret: string;
  readonly previous: { readonly secret: string; readonly until: number } | null;
  readonly deliveredDays: number;
  readonly endpoints: readonly StoredEndpoint[];
  /** Names of endpoints that were removed, for the recorder. */
  readonly removed: Readonly<Record<string, string>>;
}

export const noSettings: StoredSettings = {
  enabled: false,
  secret: '',
  previous: null,
  deliveredDays: 3,
  endpoints: [],
  removed: {},
};

/** Read once and looked into many times: for emit and the worker. */
export interface Snapshot {
  readonly stored: StoredSettings;
  readonly siteName: string;
  readonly byId: ReadonlyMap<string, StoredEndpoint>;
  /** Endpoints that are on and have an address, by event. */
  readonly byEvent: ReadonlyMap<string, readonly StoredEndpoint[]>;
  /** Newest first; empty: unsigned. */
  secretsOf(endpoint: Pick<StoredEndpoint, 'secret'> | undefined): readonly string[];
  headersOf(endpoint: StoredEndpoint): Readonly<Record<string, string>>;
}

export interface SettingsStore {
  /** At most a tenth of a second old, while the database is in reach; changes made in this process are seen at once. */
  current(): Promise<Snapshot>;
  /** What `current` would answer, where that needs no asking; else null. */
  known(): Snapshot | null;
  /** Changes the settings, however many do so at once. */
  change(make: (stored: StoredSettings) => StoredSettings): Promise<void>;
  readonly read: SecretReader;
}

const freshFor = 100;

export interface SettingsStoreParts {
  readonly host: Pick<HostApi, 'options' | 'hooks' | 'clock' | 'site' | 'database'>;
  readonly read: SecretReader;
  readonly elapsed: () => number;
}

export function createSettingsStore({
  host: { options, hooks, clock, site, database },
  read,
  elapsed,
}: SettingsStoreParts): SettingsStore {
  let known: { readonly snapshot: Snapshot; readonly at: number } | null = null;
  let version = 0;
  /** For as long as the database cannot be asked. */
  let last: Snapshot | null = null;
  const forget = (): void => {
    known = null;
    version += 1;
  };
  for (const action of [
    `update_option_${webhooksOption}`,
    `add_option_${webhooksOption}`,
    'deleted_option',
    'update_option_blogname',
  ])
    hooks.addAction(action, forget);

  async function load(): Promise<StoredSettings> {
    const stored = await options.get<Partial<StoredSettings> | false>(webhooksOption, false);
    return { ...noSettings, ...(stored || {}) };
  }

  return {
    read,
    known: () => (known !== null && elapsed() - known.at < freshFor ? known.snapshot : null),
    async current() {
      const now = elapsed();
      if (known !== null && now - known.at < freshFor) return known.snapshot;
      const seen = version;
      try {
        const snapshot = takeSnapshot({
          stored: await load(),
          siteName: await site.name(),
          read,
          now: () => clock.now(),
        });
        if (seen === version) known = { snapshot, at: now };
        return (last = snapshot);
      } catch (error) {
        if (last === null || !database.isUnavailable(error)) throw error;
        return last;
      }
    },
    async change(make) {
      for (let attempt = 0; attempt < 50; attempt += 1) {
        const before = await options.get<StoredSettings | false>(webhooksOption, false);
        const after = make({ ...noSettings, ...(before || {}) });
        const changed =
          before === false
            ? await options.add(webhooksOption, after)
            : JSON.stringify(before) === JSON.stringify(after) ||
              (await options.compareAndSet(webhooksOption, before, after));
        forget();
        if (changed) return;
      }
      throw new Error('The webhook settings are being changed by too many at once. Try again.');
    },
  };
}

function takeSnapshot({
  stored,
  siteName,
  read,
  now,
}: {
  readonly stored: StoredSettings;
  readonly siteName: string;
  readonly read: SecretReader;
  readonly now: () => number;
}): Snapshot {
  const byEvent = new Map<string, StoredEndpoint[]>();
  for (const endpoint of stored.endpoints) {
    if (!endpoint.enabled || endpoint.url === '') continue;
    for (const name of endpoint.events) byEvent.set(name, [...(byEvent.get(name) ?? []), endpoint]);
  }
  const plain = (encrypted: string): string[] => {
    const secret = encrypted === '' ? null : read(encrypted);
    return secret === null || secret === '' ? [] : [secret];
  };
  const headers = new Map<string, Record<string, string>>();
  return {
    stored,
    siteName,
    byId: new Map(stored.endpoints.map((endpoint) => [endpoint.id, endpoint])),
    byEvent,
    secretsOf(endpoint) {
      if (endpoint?.secret) return plain(endpoint.secret);
      const previous = stored.previous !== null && stored.previous.until > now() ? plain(stored.previous.secret) : [];
      return [...plain(stored.secret), ...previous];
    },
    headersOf(endpoint) {
      const found =
        headers.get(endpoint.id) ??
        Object.fromEntries(Object.entries(endpoint.headers).map(([name, value]) => [name, read(value) ?? '']));
      headers.set(endpoint.id, found);
      return found;
    },
  };
}

import { isUrl, type HostApi } from '#plugin-api';
import type { SecretReader } from '../settings/secret-reader.ts';
import { newEndpoint, type EndpointSettings } from './endpoint.ts';

export const webhooksOption = 'svc_webhooks';

/** As stored: secrets and header values are encrypted (D3). */
export interface StoredEndpoint extends EndpointSettings {
  readonly id: string;
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface StoredSettings {
  readonly enabled: boolean;
  readonly secret: string;
  readonly previous: { readonly secret: string; readonly until: number } | null;
  readonly deliveredDays: number;
  readonly endpoints: readonly StoredEndpoint[];
  /** Names of deleted endpoints by id, for the delivery log. */
  readonly removed: Readonly<Record<string, string>>;
}

/** What the stored secrets are bound to (D35). A new URL of the same origin keeps those of an endpoint. */
export const secretContexts = {
  common: `${webhooksOption} secret`,
  endpoint: ({ id, url }: Pick<StoredEndpoint, 'id' | 'url'>): string =>
    `${webhooksOption} ${id} ${originOf(url)} secret`,
  header: ({ id, url }: Pick<StoredEndpoint, 'id' | 'url'>, name: string): string =>
    `${webhooksOption} ${id} ${originOf(url)} header ${name}`,
} as const;

/** The origin of an endpoint's URL; '' while it has none. */
export function originOf(url: string): string {
  return isUrl(url) ? new URL(url).origin : '';
}

export const defaultSettings: StoredSettings = {
  enabled: false,
  secret: '',
  previous: null,
  deliveredDays: 3,
  endpoints: [],
  removed: {},
};

/** Settings prepared for frequent lookups by emit and the worker. */
export interface Snapshot {
  readonly stored: StoredSettings;
  readonly siteId: string;
  readonly siteName: string;
  readonly byId: ReadonlyMap<string, StoredEndpoint>;
  /** Active endpoints with a URL, by event. */
  readonly byEvent: ReadonlyMap<string, readonly StoredEndpoint[]>;
  /** Secrets to sign with, newest first; empty: unsigned, or `holdReason` says why nothing may be sent. */
  secretsFor(endpoint: Pick<StoredEndpoint, 'id' | 'url' | 'secret'> | undefined): readonly string[];
  /**
   * Why nothing may be sent to the endpoint: a secret or header that is set cannot be decrypted. Null: nothing is held. Without
   * an endpoint, that of a target that a filter added.
   */
  holdReason(endpoint: StoredEndpoint | undefined): string | null;
  headersFor(endpoint: StoredEndpoint): Readonly<Record<string, string>>;
}

export interface SettingsStore {
  /** At most 0.1 s old while the database is available. Changes in this process are visible at once. */
  current(): Promise<Snapshot>;
  /** What `current` returns if no query is needed, else null. */
  cached(): Snapshot | null;
  /** Changes the settings, safe against concurrent changes. */
  change(update: (stored: StoredSettings) => StoredSettings): Promise<void>;
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
  let cached: { readonly snapshot: Snapshot; readonly at: number } | null = null;
  let version = 0;
  /** Attempts that find the cache expired together share one reading. */
  let reading: { readonly version: number; readonly snapshot: Promise<Snapshot> } | null = null;
  /** Used while the database is unavailable. */
  let last: Snapshot | null = null;
  const forget = (): void => {
    cached = null;
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
    const settings = { ...defaultSettings, ...(stored || {}) };
    // Those that an earlier version saved lack newer members.
    return { ...settings, endpoints: settings.endpoints.map((endpoint) => ({ ...newEndpoint, ...endpoint })) };
  }

  async function readSnapshot(): Promise<Snapshot> {
    const [now, seen] = [elapsed(), version];
    try {
      const snapshot = createSnapshot({
        stored: await load(),
        siteId: await site.id(),
        siteName: await site.name(),
        read,
        now: () => clock.now(),
      });
      if (seen === version) cached = { snapshot, at: now };
      return (last = snapshot);
    } catch (error) {
      if (last === null || !database.isUnavailable(error)) throw error;
      return last;
    } finally {
      if (reading?.version === seen) reading = null;
    }
  }

  return {
    read,
    cached: () => (cached !== null && elapsed() - cached.at < freshFor ? cached.snapshot : null),
    async current() {
      if (cached !== null && elapsed() - cached.at < freshFor) return cached.snapshot;
      // A transaction may hold the only connection that another reading waits for.
      if (database.inTransaction()) return readSnapshot();
      if (reading?.version !== version) reading = { version, snapshot: readSnapshot() };
      return reading.snapshot;
    },
    async change(update) {
      for (let attempt = 0; attempt < 50; attempt += 1) {
        const before = await options.get<StoredSettings | false>(webhooksOption, false);
        const after = update({ ...defaultSettings, ...(before || {}) });
        const changed =
          before === false
            ? await options.add(webhooksOption, after)
            : JSON.stringify(before) === JSON.stringify(after) ||
              (await options.compareAndSet(webhooksOption, before, after));
        forget();
        if (changed) return;
      }
      throw new Error('The webhook settings changed too often in the meantime. Try again.');
    },
  };
}

function createSnapshot({
  stored,
  siteId,
  siteName,
  read,
  now,
}: {
  readonly stored: StoredSettings;
  readonly siteId: string;
  readonly siteName: string;
  readonly read: SecretReader;
  readonly now: () => number;
}): Snapshot {
  const byEvent = new Map<string, StoredEndpoint[]>();
  for (const endpoint of stored.endpoints) {
    if (!endpoint.enabled || endpoint.url === '') continue;
    for (const name of endpoint.events) byEvent.set(name, [...(byEvent.get(name) ?? []), endpoint]);
  }
  const plain = (encrypted: string, context: string): string[] => {
    const secret = encrypted === '' ? null : read(encrypted, context);
    return secret === null || secret === '' ? [] : [secret];
  };
  const headers = new Map<string, Record<string, string>>();
  const secrets = new Map<string, readonly string[]>();
  const holds = new Map<string, string | null>();
  return {
    stored,
    siteId,
    siteName,
    byId: new Map(stored.endpoints.map((endpoint) => [endpoint.id, endpoint])),
    byEvent,
    secretsFor(endpoint) {
      if (endpoint?.secret) {
        const found = secrets.get(endpoint.id) ?? plain(endpoint.secret, secretContexts.endpoint(endpoint));
        secrets.set(endpoint.id, found);
        return found;
      }
      const { common } = secretContexts;
      const previous =
        stored.previous !== null && stored.previous.until > now() ? plain(stored.previous.secret, common) : [];
      return [...plain(stored.secret, common), ...previous];
    },
    holdReason(endpoint) {
      const key = endpoint?.id ?? '';
      const known = holds.get(key);
      const reason = known === undefined ? findHoldReason({ stored, read }, endpoint) : known;
      holds.set(key, reason);
      return reason;
    },
    headersFor(endpoint) {
      const found =
        headers.get(endpoint.id) ??
        Object.fromEntries(
          Object.entries(endpoint.headers).map(([name, value]) => [
            name,
            read(value, secretContexts.header(endpoint, name)) ?? '',
          ]),
        );
      headers.set(endpoint.id, found);
      return found;
    },
  };
}

function findHoldReason(
  { stored, read }: { readonly stored: StoredSettings; readonly read: SecretReader },
  endpoint: StoredEndpoint | undefined,
): string | null {
  const { common, endpoint: ofEndpoint, header } = secretContexts;
  const isUnreadable = (encrypted: string, context: string): boolean =>
    encrypted !== '' && read(encrypted, context) === null;
  const remedy = 'Restore the previous SECRET_KEY or secret.key, or enter it again.';
  if (endpoint?.secret) {
    if (isUnreadable(endpoint.secret, ofEndpoint(endpoint)))
      return `The signing secret of this endpoint is set but cannot be read. ${remedy}`;
  } else if (isUnreadable(stored.secret, common)) return `The signing secret is set but cannot be read. ${remedy}`;
  const name = Object.entries(endpoint?.headers ?? {}).find(
    ([name, value]) => endpoint && isUnreadable(value, header(endpoint, name)),
  )?.[0];
  return name === undefined ? null : `The header ${name} is set but cannot be read. ${remedy}`;
}

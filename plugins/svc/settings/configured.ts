import { fieldLabel, asRecord, isUrl, invalidFields, outboundReason, translateText } from '#plugin-api';
import type { HostApi, HttpApi, JsonSchema, SecretStore } from '#plugin-api';
import { memoize } from '../kit/caches.ts';
import { isAddressField, readFieldValue } from './field-value.ts';
import { sandboxReader } from './sandbox-switch.ts';
import { maskSecret, unreadableText, type SecretReader } from './secret-reader.ts';

/** Something with settings that an administrator enters: a provider, a vector store. */
export interface Configurable {
  readonly id: string;
  readonly label: string;
  readonly settings: { readonly properties: Readonly<Record<string, JsonSchema>> };
  /** Names of settings that must not be empty. */
  readonly required: readonly string[];
}

export type SavedSettings = Readonly<Record<string, unknown>>;

/** What a change did besides what it was asked for. */
export interface SavedChanges {
  /** Labels of saved secrets that were removed because they were entered for another origin (D35). */
  readonly dropped: readonly string[];
}

/**
 * Settings by schema, one option for each item. Members marked `writeOnly` are encrypted (D3) and bound to the option, the
 * member and the origin of the item's URL (D35): a secret is never sent to an origin that it was not entered for.
 */
export interface ConfiguredSettings<Item extends Configurable> {
  /** The saved settings with schema defaults. Secrets are in plain text. */
  saved(item: Item): Promise<SavedSettings>;
  /**
   * Changes the named settings only. An empty text removes a setting, undefined leaves it unchanged. If the URL gets another
   * origin, saved secrets that are not entered again are removed.
   *
   * @throws RestError 400 with a sentence for each invalid field; nothing is saved
   */
  save(item: Item, changes: SavedSettings): Promise<SavedChanges>;
  /** Whether settings were ever saved. */
  isSaved(item: Item): Promise<boolean>;
  /**
   * Whether an item has all required settings. One that works with its defaults, such as Ollama, may not be running at all:
   * it counts only once one of its settings was saved.
   */
  isConnected(item: Item): Promise<boolean>;
  /** Names of saved secrets that cannot be read, because another key encrypted them. A call without them must not be made. */
  unreadable(item: Item): Promise<readonly string[]>;
  secretStore(item: Item): SecretStore;
  /**
   * The settings for a call: saved values, schema defaults, those of the sandbox while it is on, then the filter. The same
   * object until something changes, unless a callback returns another.
   */
  effective(id: string): Promise<SavedSettings>;
}

interface ReadSettings {
  readonly settings: SavedSettings;
  /** False: a secret could not be decrypted, and is missing. */
  readonly isComplete: boolean;
}

export interface ConfiguredParts<Item> {
  readonly find: (id: string) => Item | undefined | Promise<Item | undefined>;
  readonly filters:
    | readonly ['svc_sandbox_provider_settings', 'svc_provider_settings']
    | readonly ['svc_sandbox_vector_store_settings', 'svc_vector_store_settings'];
  readonly host: Pick<HostApi, 'options' | 'secrets' | 'hooks' | 'http'>;
  readonly read: SecretReader;
  /** Returns the name of the option for an id. */
  readonly option: (id: string) => string;
}

export function createConfiguredSettings<Item extends Configurable>({
  host: { options, secrets, hooks, http },
  read,
  option,
  find,
  filters: [sandboxFilter, filter],
}: ConfiguredParts<Item>): ConfiguredSettings<Item> {
  const isSandboxOn = sandboxReader(options);
  const readers = new WeakMap<Item, () => Promise<ReadSettings>>();

  async function stored(id: string): Promise<SavedSettings> {
    const value = await options.get<unknown>(option(id), {});
    return asRecord(value);
  }

  /** What a secret is bound to, by the name of its setting. */
  function contextOf(item: Item, values: SavedSettings): (name: string) => string {
    const origin = upstreamOrigin(item, values);
    return (name) => `${option(item.id)} ${name} ${origin}`;
  }

  /** The stored secrets of an item, encrypted. */
  function secretsOf(item: Item, values: SavedSettings) {
    const context = contextOf(item, values);
    return Object.entries(item.settings.properties).flatMap(([name, schema]) => {
      const encrypted = Object.hasOwn(values, name) ? values[name] : undefined;
      return schema.writeOnly && typeof encrypted === 'string' && encrypted !== ''
        ? [{ name, label: `${item.label}: ${fieldLabel(name, schema)}`, encrypted, context: context(name) }]
        : [];
    });
  }

  function readSettings(item: Item, values: SavedSettings): ReadSettings {
    const settings: Record<string, unknown> = {};
    const context = contextOf(item, values);
    let isComplete = true;
    for (const [name, schema] of Object.entries(item.settings.properties)) {
      const value = Object.hasOwn(values, name) ? values[name] : undefined;
      const plain = schema.writeOnly && typeof value === 'string' ? read(value, context(name)) : value;
      if (plain === null && value !== null) isComplete = false;
      const chosen = plain ?? schema.default;
      if (chosen !== undefined) settings[name] = chosen;
    }
    return { settings: Object.freeze(settings), isComplete };
  }

  function readerOf(item: Item): () => Promise<ReadSettings> {
    const known = readers.get(item);
    if (known !== undefined) return known;
    const reader = options.computed([option(item.id)], (values) => readSettings(item, asRecord(values)));
    readers.set(item, reader);
    return reader;
  }

  /** A callback may change what it gets. */
  const copyFor = (name: string, settings: SavedSettings): SavedSettings =>
    hooks.hasFilter(name) === false ? settings : structuredClone(settings);

  const configured: ConfiguredSettings<Item> = {
    async saved(item) {
      const { settings, isComplete } = await readerOf(item)();
      // A secret that cannot be decrypted now may be readable later: the key file may be restored.
      return isComplete ? settings : readSettings(item, await stored(item.id)).settings;
    },
    async save(item, changes) {
      const before = await stored(item.id);
      const next = { ...before, ...(await readChangedFields(item, changes, http)) };
      const context = contextOf(item, next);
      const moved = upstreamOrigin(item, before) !== upstreamOrigin(item, next);
      const dropped: string[] = [];
      for (const [name, schema] of Object.entries(item.settings.properties)) {
        const value = next[name];
        if (value === undefined || value === null) Reflect.deleteProperty(next, name);
        else if (schema.writeOnly && value !== before[name]) next[name] = secrets.encrypt(String(value), context(name));
        else if (schema.writeOnly && moved) {
          Reflect.deleteProperty(next, name);
          dropped.push(fieldLabel(name, schema));
        }
      }
      await options.update(option(item.id), next);
      return { dropped };
    },
    async effective(id) {
      const item = await find(id);
      const own = item ? await configured.saved(item) : {};
      // Two filters, because one that reads the switch is asynchronous, which slows every call also while it is off.
      const chosen = (await isSandboxOn())
        ? await hooks.applyFiltersAsync(sandboxFilter, copyFor(sandboxFilter, own), id)
        : own;
      return hooks.applyFiltersAsync(filter, copyFor(filter, chosen), id);
    },
    isSaved: async (item) => Object.keys(await stored(item.id)).length > 0,
    isConnected: async (item) =>
      (item.required.includes('api_key') || (await configured.isSaved(item))) &&
      missingSettings(item, await configured.saved(item)).length === 0,
    async unreadable(item) {
      const found = secretsOf(item, await stored(item.id));
      return found.filter(({ encrypted, context }) => read(encrypted, context) === null).map(({ name }) => name);
    },
    secretStore: (item) => ({
      async rewrite(change) {
        const before = await stored(item.id);
        const changed = secretsOf(item, before)
          .map(({ name, ...secret }) => [name, change(secret)] as const)
          .filter(([name, encrypted]) => encrypted !== before[name]);
        if (changed.length === 0) return;
        if (!(await options.compareAndSet(option(item.id), before, { ...before, ...Object.fromEntries(changed) })))
          throw new Error(`The settings of ${item.label} were changed in the meantime.`);
      },
    }),
  };
  return configured;
}

/**
 * The changes as they are stored; secrets in plain text, undefined for a setting to remove. Addresses that the outbound guard
 * never calls are errors; a name that cannot be resolved now is not.
 *
 * @throws RestError 400 with a sentence for each invalid field
 */
async function readChangedFields(
  { label, settings: { properties } }: Configurable,
  changes: SavedSettings,
  http: Pick<HttpApi, 'check'>,
): Promise<Record<string, unknown>> {
  const read: Record<string, unknown> = {};
  const errors: Record<string, string> = {};
  for (const [name, raw] of Object.entries(changes)) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (raw === undefined) continue;
    if (!schema) {
      errors[name] = `${label} has no setting named ${name}. Use one of ${Object.keys(properties).join(', ')}.`;
      continue;
    }
    const reading = readFieldValue(name, schema, raw);
    const refused =
      'value' in reading && isAddressField(name, schema) ? await refusedUrl(String(reading.value ?? ''), http) : null;
    if ('error' in reading) errors[name] = reading.error;
    else if (refused !== null) errors[name] = `${fieldLabel(name, schema)} cannot be used: ${refused}`;
    else read[name] = reading.value;
  }
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
  return read;
}

/** Why the guard never calls a URL, or null. */
async function refusedUrl(url: string, http: Pick<HttpApi, 'check'>): Promise<string | null> {
  if (url === '') return null;
  return http.check(url, { allowInternal: true }).then(
    () => null,
    (error: unknown) => {
      const { code } = error as { readonly code?: unknown };
      return code === 'outbound_refused' ? outboundReason(error) : null;
    },
  );
}

/** The origin that the secrets of an item are sent to: that of its URL, with the port of a separate field. */
function upstreamOrigin({ settings: { properties } }: Configurable, values: SavedSettings): string {
  const parts = Object.entries(properties).flatMap(([name, schema]) => {
    const value = values[name] ?? schema.default;
    if (isAddressField(name, schema)) return [originOf(String(value))];
    return name === 'port' ? [String(value)] : [];
  });
  return parts.join(' ');
}

/** The origin of a URL, '' for other texts. Every request needs those of the same few URLs. */
const originOf = memoize((url) => (isUrl(url) ? new URL(url).origin : ''));

/** The sentence about removed secrets, or '' if there are none. */
export function droppedSecretsText({ dropped }: SavedChanges): string {
  if (dropped.length === 0) return '';
  const what = dropped.length === 1 ? 'the saved value' : 'the saved values';
  const [it, was] = dropped.length === 1 ? ['it', 'was'] : ['them', 'were'];
  return `The URL now leads to another origin, so ${what} of ${dropped.join(' and ')} ${was} removed. Enter ${it} again.`;
}

/** Names of required settings that are empty. */
export function missingSettings({ required }: Pick<Configurable, 'required'>, settings: SavedSettings): string[] {
  return required.filter((name) => {
    const value = settings[name];
    return value === undefined || value === null || value === '';
  });
}

/** Whether something can be used, for cards and lists. `missing`: labels of what it lacks, or ''. */
export interface ConfigurationState {
  readonly isReady: boolean;
  readonly badge: { readonly text: string; readonly kind: 'success' | 'info' | 'error' };
  readonly missing: string;
}

/**
 * @param unreadable names of saved secrets that cannot be read
 * @param isSaved whether settings were ever saved; without required settings an item is ready before that
 */
export function configurationState(
  item: Configurable,
  saved: SavedSettings,
  { unreadable, isSaved }: { readonly unreadable: readonly string[]; readonly isSaved: boolean },
): ConfigurationState {
  const names = [...new Set([...unreadable, ...missingSettings(item, saved)])];
  const label = (name: string): string =>
    translateText(fieldLabel(name, item.settings.properties[name] ?? {})) +
    (unreadable.includes(name) ? ' (saved, but encrypted with another SECRET_KEY)' : '');
  return {
    isReady: names.length === 0,
    badge:
      unreadable.length > 0
        ? { text: 'Key cannot be read', kind: 'error' }
        : names.length > 0
          ? { text: 'Not configured', kind: 'info' }
          : isSaved
            ? { text: 'Configured', kind: 'success' }
            : { text: 'Default settings', kind: 'info' },
    missing: names.map(label).join(', '),
  };
}

/** The settings of an item for output, with masked secrets (D3). */
export function describeConfigured(
  item: Configurable,
  saved: SavedSettings,
  unreadable: readonly string[],
): Record<string, unknown> {
  const values = Object.entries(item.settings.properties).map(([name, schema]) => {
    const value = saved[name];
    if (unreadable.includes(name)) return [name, unreadableText];
    return [name, schema.writeOnly && typeof value === 'string' ? maskSecret(value) : (value ?? '')];
  });
  return {
    id: item.id,
    label: item.label,
    configured: configurationState(item, saved, { unreadable, isSaved: true }).isReady,
    ...Object.fromEntries(values),
  };
}

import { isUrl, type RestError } from '#plugin-api';
import { memoize } from '../kit/caches.ts';
import { requireScopes } from '../kit/caller.ts';
import { errors } from '../kit/errors.ts';
import type { UsageOrigin } from '../kit/usage-origin.ts';
import type { Provider, ProviderConnection, ProviderSettings } from '../providers/provider.ts';
import type { AiServices } from './ports.ts';

/** Saved settings, with the defaults of the provider's schema for blank ones. */
export function withDefaults(provider: Provider, saved: ProviderSettings): ProviderSettings {
  const settings: Record<string, unknown> = { ...saved };
  for (const [name, { default: value }] of Object.entries(provider.settings.properties)) {
    if (value !== undefined && isBlank(settings[name])) settings[name] = value;
  }
  return settings;
}

/** Saved settings that were checked and cannot change, by provider: the same ones are not checked for each call. */
const checked = new WeakMap<Provider, { readonly saved: ProviderSettings; readonly settings: ProviderSettings }>();

/**
 * A provider's settings, ready for a call.
 *
 * @param call who makes the call, and its model if the request names one: what its key may not use is refused first, whether it
 *   is configured or not
 * @throws RestError 403 `rest_svc_key_out_of_scope`
 * @throws RestError `rest_svc_provider_not_configured` that names what is missing or unusable and where to set it (D5), or
 *   `rest_svc_secret_unreadable` if it is saved but cannot be decrypted.
 */
export async function configuredSettings(
  provider: Provider,
  services: Pick<AiServices, 'settings'>,
  { origin, model }: { readonly origin?: UsageOrigin | undefined; readonly model?: string | undefined } = {},
): Promise<ProviderSettings> {
  requireScopes(origin?.caller, { provider: provider.id, model, chatbot: origin?.botId ?? undefined });
  const saved = await services.settings.provider(provider.id);
  const known = checked.get(provider);
  if (known?.saved === saved) return known.settings;
  const settings = Object.freeze(withDefaults(provider, saved));
  const blankSecrets = Object.entries(provider.settings.properties).flatMap(([name, { writeOnly }]) =>
    writeOnly === true && isBlank(settings[name]) ? [name] : [],
  );
  const unreadable =
    blankSecrets.length === 0
      ? []
      : ((await services.settings.unreadable?.(provider.id)) ?? []).filter((name) => blankSecrets.includes(name));
  if (unreadable.length > 0) throw unreadableSecrets(provider, unreadable);
  const missing = provider.required.filter((name) => isBlank(settings[name]) || !isUsable(name, settings[name]));
  const unusable = ['base_url', 'api_key'].filter(
    (name) => !isBlank(settings[name]) && !isUsable(name, settings[name]) && !missing.includes(name),
  );
  if (missing.length + unusable.length > 0) throw notConfigured(provider, [...missing, ...unusable]);
  if (Object.isFrozen(saved)) checked.set(provider, { saved, settings });
  return settings;
}

/** The error of a call that lacks secrets which are saved but cannot be decrypted. Never to be taken for a missing setting. */
export function unreadableSecrets(
  { id, label, settings }: Pick<Provider, 'id' | 'label' | 'settings'>,
  names: readonly string[],
): RestError {
  return errors.secret_unreadable({
    values: { provider: label, names: names.map((name) => settings.properties[name]?.title ?? name).join(' and ') },
    data: { provider: id, provider_status: null },
  });
}

function notConfigured(provider: Provider, names: readonly string[]): RestError {
  const titles = names.map((name) => provider.settings.properties[name]?.title ?? name);
  return errors.provider_not_configured({
    values: { provider: provider.label, missing: titles.join(' and ') },
    data: { provider: provider.id, provider_status: null },
  });
}

/** A key must be valid in a header, a base URL must use HTTP or HTTPS. */
function isUsable(name: string, value: unknown): boolean {
  if (name === 'api_key') return typeof value === 'string' && /^[\x21-\x7e]+$/.test(value);
  if (name === 'base_url') return typeof value === 'string' && isHttpUrl(value);
  return true;
}

const isHttpUrl = memoize((text) => /^https?:/i.test(text.trim()) && isUrl(text));

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}

export interface ConnectionInit {
  readonly settings: ProviderSettings;
  /** Milliseconds, 1 or more. */
  readonly timeout: number;
  readonly firstByte?: number;
  readonly idle?: number;
  readonly signal?: AbortSignal | undefined;
}

export function connectionOf(
  services: AiServices,
  { settings, signal, ...limits }: ConnectionInit,
): ProviderConnection {
  const { clock, log } = services.host;
  return {
    settings,
    fetch: services.upstream.accessTo(settings.base_url).fetch,
    clock,
    log,
    ...limits,
    ...(signal !== undefined && { signal }),
  };
}

/**
 * Loads the code of calls to the providers that are configured. Loaded by the first request, it would hold up the others for half a
 * second (D46).
 *
 * @returns their ids
 */
export async function loadConfigured(services: Pick<AiServices, 'settings' | 'registry'>): Promise<readonly string[]> {
  const loaded: string[] = [];
  for (const { id, required, load, settings: schema } of services.registry.all()) {
    const saved = await services.settings.provider(id);
    // A default does not say that it is used: Ollama needs nothing else.
    const isSaved = (name: string): boolean =>
      !isBlank(saved[name]) && saved[name] !== schema.properties[name]?.default;
    if (load === undefined || required.length === 0 || !required.every(isSaved)) continue;
    await load();
    loaded.push(id);
  }
  return loaded;
}

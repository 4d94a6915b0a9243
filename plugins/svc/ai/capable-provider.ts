import { RestError } from '#plugin-api';
import { errors } from '../kit/errors.ts';
import type { Provider } from '../providers/provider.ts';
import type { ProviderRegistry } from '../providers/registry.ts';

export type Capability = 'text' | 'images' | 'embeddings';

/** Videos have no failover: a job that was started belongs to its provider. */
export type ProviderCapability = Capability | 'videos';

/** A provider with a capability. */
export type Capable<Name extends ProviderCapability> = Provider & Required<Pick<Provider, Name>>;

const kinds: Readonly<Record<ProviderCapability, string>> = {
  text: 'text',
  images: 'image',
  embeddings: 'embedding',
  videos: 'video',
};

export function hasCapability<Name extends ProviderCapability>(
  provider: Provider,
  name: Name,
): provider is Capable<Name> {
  return provider[name] !== undefined;
}

/** @throws RestError 400 `rest_invalid_param` for an unknown provider, or one without the capability. */
export function capableProvider<Name extends ProviderCapability>(
  registry: ProviderRegistry,
  id: string,
  name: Name,
): Capable<Name> {
  const provider = registry.get(id);
  if (provider !== undefined && hasCapability(provider, name)) return provider;
  throw new RestError({
    code: 'rest_invalid_param',
    status: 400,
    message: 'Invalid parameter(s): provider',
    data: { params: { provider: `There is no ${kinds[name]} provider named ${id}.` } },
  });
}

export interface ModelChoice {
  readonly requested: string | undefined;
  readonly saved: string | undefined;
  readonly provider: Provider;
  /** Name of the setting that holds the default. */
  readonly setting: string;
}

/** The requested model, else the saved one. @throws RestError `rest_svc_provider_not_configured` without either. */
export function chosenModel({ requested, saved, provider, setting }: ModelChoice): string {
  const model = requested?.trim() || saved?.trim();
  if (model) return model;
  throw errors.provider_not_configured({
    values: { provider: provider.label, missing: provider.settings.properties[setting]?.title ?? 'model' },
    data: { provider: provider.id, provider_status: null },
  });
}

interface RouteProviders {
  readonly capability: Capability;
  /** The ids that the contract names for the route. */
  readonly contract: readonly string[];
}

/**
 * Ids that a route accepts as `provider` now: those the contract names, then those that other plugins add by
 * `svc_providers`. The service's other providers are for modules only, unless a plugin replaces one.
 */
export function routeProviderIds(
  registry: Pick<ProviderRegistry, 'all' | 'isOwn'>,
  { capability, contract }: RouteProviders,
): string[] {
  return registry
    .all()
    .filter(
      (provider) =>
        hasCapability(provider, capability) && (contract.includes(provider.id) || !registry.isOwn(provider)),
    )
    .map(({ id }) => id);
}

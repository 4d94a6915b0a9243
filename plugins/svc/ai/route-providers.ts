import type { ProviderRegistry } from '../providers/registry.ts';
import { hasCapability, type Capability } from './capable-provider.ts';

export interface RouteProvidersQuestion {
  readonly capability: Capability;
  /** The ids that the contract names for the route. */
  readonly contract: readonly string[];
}

/**
 * Ids that a route takes as `provider` at this moment: those the contract names and, after them, those that other plugins
 * add by `svc_providers`. A provider of our own that the contract does not name stays out, though modules may use it,
 * until a plugin puts one of its own in its place.
 */
export function routeProviderIds(
  registry: Pick<ProviderRegistry, 'all' | 'isOwn'>,
  { capability, contract }: RouteProvidersQuestion,
): string[] {
  return registry
    .all()
    .filter(
      (provider) =>
        hasCapability(provider, capability) && (contract.includes(provider.id) || !registry.isOwn(provider)),
    )
    .map(({ id }) => id);
}

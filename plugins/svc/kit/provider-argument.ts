import type { RouteArgument } from '#plugin-api';

export interface ProviderArgumentInit {
  /** Ids that may be chosen, asked anew at each request. */
  readonly ids: () => readonly string[];
  readonly description: string;
  readonly required?: boolean;
  /** Taken where a caller names none. */
  readonly default?: string;
}

/**
 * The argument `provider`: one of the ids there are at the moment of the request, so that a provider added or taken away
 * by another plugin counts at once.
 *
 * The list is read anew each time; a `sanitize` of its own keeps the host from compiling the schema once and for all.
 */
export function providerArgument({ ids, description, required, default: chosen }: ProviderArgumentInit): RouteArgument {
  return {
    type: 'string',
    description,
    ...(required !== undefined && { required }),
    ...(chosen !== undefined && { default: chosen }),
    get enum() {
      return ids();
    },
    sanitize: (value) => value,
  };
}

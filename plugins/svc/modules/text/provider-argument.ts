import type { RouteArgument } from '#plugin-api';

/**
 * The argument `provider`: one of the ids there are at the moment of the request, so that a provider added or taken away
 * by another plugin counts at once.
 *
 * The list is read anew each time; a `sanitize` of its own keeps the host from compiling the schema once and for all.
 */
export function providerArgument(ids: () => readonly string[]): RouteArgument {
  return {
    type: 'string',
    required: true,
    description: 'Id of the provider that generates the text.',
    get enum() {
      return ids();
    },
    sanitize: (value) => value,
  };
}

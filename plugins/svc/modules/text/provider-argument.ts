import { RestError, type RouteArgument } from '#plugin-api';

/**
 * The argument `provider`: one of the ids that are registered at the moment of the request, so that a provider added or
 * taken away by another plugin counts at once. `enum` is for those who read the description (OPTIONS, OpenAPI).
 */
export function providerArgument(ids: () => readonly string[]): RouteArgument {
  return {
    type: 'string',
    required: true,
    description: 'Id of the provider that generates the text.',
    get enum() {
      return ids();
    },
    validate: (value, _request, name) => {
      if (typeof value !== 'string') return new RestError({ code: 'rest_invalid_type', status: 400, message: `${name} is not of type string.`, data: { param: name } });
      if (ids().includes(value)) return true;
      return new RestError({ code: 'rest_not_in_enum', status: 400, message: `${name} is not one of ${inWords(ids())}.` });
    },
    sanitize: (value) => value,
  };
}

/** `a, b, and c`, as the host words its own sentences. */
function inWords(names: readonly string[]): string {
  if (names.length < 3) return names.join(' and ');
  return `${names.slice(0, -1).join(', ')}, and ${names.at(-1) ?? ''}`;
}

import type { JsonSchema, RouteArgument } from '#plugin-api';
import type { Endpoint } from './endpoint.ts';
import type { Route } from './registry.ts';

/** Keywords of an argument shown to callers. Functions and the host's own keywords are left out. */
const shownKeywords = new Set([
  'title',
  'description',
  'default',
  'type',
  'format',
  'enum',
  'items',
  'properties',
  'additionalProperties',
  'patternProperties',
  'minProperties',
  'maxProperties',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'uniqueItems',
  'anyOf',
  'oneOf',
]);

export interface RouteDescription {
  readonly namespace: string;
  readonly methods: readonly string[];
  readonly endpoints: readonly EndpointDescription[];
  readonly schema?: JsonSchema;
  readonly _links?: unknown;
}

export interface EndpointDescription {
  readonly methods: readonly string[];
  readonly allow_batch?: { readonly v1: true };
  /** An empty list when there are none, as PHP encodes empty maps. */
  readonly args: Readonly<Record<string, unknown>> | readonly never[];
}

/** The description of a route in indexes and OPTIONS; null if it is hidden. Routes without parameters link to themselves. */
export function describeRoute(
  route: Route,
  { url, withSchema = false }: { url: (route: string) => string; withSchema?: boolean },
): RouteDescription | null {
  const shown = route.endpoints.filter(({ definition }) => definition.showInIndex !== false);
  if (shown.length === 0) return null;
  const schema = withSchema
    ? route.endpoints.find(({ definition }) => definition.schema !== undefined)?.definition.schema
    : undefined;
  const { path } = route.pattern;
  return {
    namespace: route.namespace,
    methods: shown.flatMap(({ methods }) => methods),
    endpoints: shown.map((endpoint) => describeEndpoint(endpoint, route.allowsBatch)),
    ...(schema && { schema }),
    ...(!path.includes('(?P<') && { _links: { self: [{ href: url(path) }] } }),
  };
}

function describeEndpoint({ methods, definition }: Endpoint, allowsBatch: boolean): EndpointDescription {
  const args = Object.entries(definition.args ?? {}).map(
    ([name, argument]) => [name, describeArgument(argument)] as const,
  );
  return {
    methods: [...methods],
    ...(allowsBatch && { allow_batch: { v1: true as const } }),
    args: args.length === 0 ? [] : Object.fromEntries(args),
  };
}

/** The shown keywords of an argument's schema. */
export function describeArgument(argument: RouteArgument): Record<string, unknown> {
  const shown = Object.entries(argument).filter(([keyword]) => shownKeywords.has(keyword));
  return { ...Object.fromEntries(shown), required: argument.required === true };
}

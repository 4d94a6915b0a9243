import type { JsonSchema, RestDispatchInit } from '#plugin-api';
import type { RouteSummary } from '../rest/rest-contract.ts';

export interface SentRequest {
  readonly route: string;
  readonly init: RestDispatchInit;
}

/** Values that have broken handlers before. No text with NUL: every door refuses it before a handler runs (D54). */
export const hostileValues: readonly unknown[] = [
  null,
  '',
  '<script>',
  "'; drop table x; --",
  '__proto__',
  'x'.repeat(5_000),
  -1,
  0.5,
  2 ** 53,
  '9'.repeat(40),
  true,
  [],
  [[null]],
  {},
];

/** A request with all arguments to each method of a route. */
export function validRequests({ route, endpoints }: RouteSummary): SentRequest[] {
  return endpoints.flatMap(({ methods, args }) =>
    methods.map((method) => {
      const params = Object.fromEntries(args.map(({ name, schema }) => [name, validValue(schema)]));
      return requestOf(fillPath(route, '1'), method, params);
    }),
  );
}

function requestOf(route: string, method: string, params: Readonly<Record<string, unknown>>): SentRequest {
  const isRead = method === 'GET' || method === 'DELETE';
  return {
    route,
    init: {
      method: method as NonNullable<RestDispatchInit['method']>,
      ...(isRead ? { query: params } : { json: params }),
    },
  };
}

/** Requests to each method of a route: valid ones, and ones in which one argument or the path breaks. The same each time. */
export function hostileRequests({ route, endpoints }: RouteSummary): SentRequest[] {
  return endpoints.flatMap(({ methods, args }) =>
    methods.flatMap((method) => {
      const valid = Object.fromEntries(args.map(({ name, schema }) => [name, validValue(schema)]));
      const required = Object.fromEntries(
        args.filter(({ required }) => required).map(({ name, schema }) => [name, validValue(schema)]),
      );
      const given = [
        {},
        required,
        valid,
        ...args.flatMap(({ name }) => hostileValues.map((value) => ({ ...required, [name]: value }))),
      ];
      return ['1', '999999', '%00', 'a'.repeat(300)].flatMap((part) =>
        given.map((params) => requestOf(fillPath(route, part), method, params)),
      );
    }),
  );
}

function fillPath(route: string, part: string): string {
  return route.replace(/\(\?P<\w+>(?:[^()]|\([^()]*\))*\)|\{\w+\}/g, part);
}

/** A value that the schema accepts, or nearly. */
export function validValue(schema: JsonSchema): unknown {
  const [first] = schema.enum ?? schema.examples ?? (schema.const === undefined ? [] : [schema.const]);
  if (first !== undefined) return first;
  switch ([schema.type].flat()[0]) {
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 1, 1);
    case 'boolean':
      return true;
    case 'array':
      return schema.items === undefined ? [] : [validValue(schema.items as JsonSchema)];
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, member]) => [name, validValue(member as JsonSchema)]),
      );
    default:
      return 'a'.repeat(Math.max(schema.minLength ?? 1, 1));
  }
}

import {
  type HttpMethod,
  type Params,
  type RouteDefinition,
  RestError,
  type RestRequest,
  type RouteArgument,
} from '#plugin-api';
import type { BodyKind } from './body-kind.ts';
import { errorBody } from './error-response.ts';
import type { ParameterError } from './host-errors.ts';
import { compileStrictCheck, type StrictCheck } from './schema/strict-check.ts';
import { findSchemaError, sanitizeValue } from './schema/validate.ts';

/** One definition of a route, with values derived from it once. */
export interface Endpoint {
  readonly definition: RouteDefinition;
  /** Slug of the plugin that registered it, or `host`. */
  readonly owner: string;
  readonly methods: readonly HttpMethod[];
  /** Most bytes of a body. Not known are callers who have neither signed in nor been admitted before the body. */
  bodyLimit(kind: BodyKind, isKnown: boolean): number;
  /** Compiled at the first request. */
  readonly args: ReadonlyMap<string, Argument>;
  /** Names of required arguments. */
  readonly required: readonly string[];
  /** Names of arguments with their own check. */
  readonly validated: readonly string[];
  /** A new object of default values, or null when there are none. */
  defaults(): Params | null;
}

export const defaultBodyLimit = 1_048_576;
const defaultAnonymousBodyLimit = 65_536;
/** Bytes of a form without files, on every route (D46): its names and escapes cost more to read than JSON. */
const largestForm = defaultBodyLimit;

export function createEndpoint(definition: RouteDefinition, owner: string): Endpoint {
  let compiled: ReadonlyMap<string, Argument> | undefined;
  const given = Object.entries(definition.args ?? {});
  const preset = given
    .filter(([, { default: value }]) => value !== undefined && value !== null)
    .map(([name, { default: value }]) => [name, value] as const);
  const isShared = preset.every(([, value]) => typeof value !== 'object');
  const defaults = Object.fromEntries(preset);
  return {
    definition,
    owner,
    methods: definition.methods ?? ['GET'],
    bodyLimit(kind, isKnown) {
      const { bodyLimit = defaultBodyLimit, anonymousBodyLimit = defaultAnonymousBodyLimit } = definition;
      const { parsedBodyLimit = bodyLimit } = definition;
      const parsed = { json: parsedBodyLimit, form: Math.min(parsedBodyLimit, largestForm), other: bodyLimit };
      return Math.min(bodyLimit, parsed[kind], isKnown ? bodyLimit : anonymousBodyLimit);
    },
    get args() {
      return (compiled ??= new Map(given.map(([name, argument]) => [name, compileArgument(name, argument)])));
    },
    required: given.filter(([, { required }]) => required === true).map(([name]) => name),
    validated: given.filter(([, { validate }]) => validate !== undefined).map(([name]) => name),
    defaults: () => (preset.length === 0 ? null : isShared ? { ...defaults } : structuredClone(defaults)),
  };
}

/** One argument of an endpoint, compiled on first use. */
interface Argument {
  readonly name: string;
  readonly required: boolean;
  readonly default: unknown;
  /** The argument's own check, run before any source is coerced; null accepts. Undefined: the schema checks. */
  readonly validate: ((value: unknown, request: RestRequest) => Promise<ParameterError | null>) | undefined;
  /** The value to use, or the error. Synchronous unless the argument has its own function. */
  readonly accept: (value: unknown, request: RestRequest) => Accepted | Promise<Accepted>;
}

type Accepted = { readonly value: unknown } | { readonly error: ParameterError };

/**
 * An argument without `type` is neither checked nor coerced by its schema, as in WordPress; `validate` replaces
 * the schema's check, `sanitize` its coercion.
 */
function compileArgument(name: string, definition: RouteArgument): Argument {
  const { validate, sanitize } = definition;
  return {
    name,
    required: definition.required === true,
    default: definition.default ?? undefined,
    validate:
      validate && (async (value, request) => toParameterError(await settle(() => validate(value, request, name)))),
    accept: withNull(
      definition,
      sanitize === undefined ? schemaOnly(name, definition) : withSanitize(name, definition),
    ),
  };
}

function withNull({ acceptsNull = false }: RouteArgument, accept: Argument['accept']): Argument['accept'] {
  return acceptsNull ? (value, request) => (value === null ? { value } : accept(value, request)) : accept;
}

function schemaOnly(name: string, definition: RouteArgument): Argument['accept'] {
  if (definition.type === undefined) return (value) => ({ value });
  if (definition.validate !== undefined) {
    return (value) => ({
      value: findSchemaError(value, definition, name) === null ? sanitizeValue(value, definition, name) : value,
    });
  }
  let isStrict: StrictCheck | undefined;
  return (value) => {
    isStrict ??= compileStrictCheck(definition);
    if (isStrict(value)) return { value };
    const found = findSchemaError(value, definition, name);
    return found === null
      ? { value: sanitizeValue(value, definition, name) }
      : { error: { message: found.message, details: found } };
  };
}

function withSanitize(name: string, definition: RouteArgument): Argument['accept'] {
  const checked = definition.type !== undefined && definition.validate === undefined;
  return async (value, request) => {
    const found = checked ? findSchemaError(value, definition, name) : null;
    if (found !== null) return { error: { message: found.message, details: found } };
    const sanitized = await settle(() => definition.sanitize?.(value, request, name));
    return sanitized instanceof RestError ? { error: fromRestError(sanitized) } : { value: sanitized };
  };
}

/** A RestError may be returned or thrown. */
async function settle(run: () => unknown): Promise<unknown> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof RestError) return error;
    throw error;
  }
}

function toParameterError(result: unknown): ParameterError | null {
  if (result === false) return { message: 'Invalid parameter.' };
  if (typeof result === 'string')
    return { message: result, details: { code: 'rest_invalid_param', message: result, data: null } };
  return result instanceof RestError ? fromRestError(result) : null;
}

function fromRestError(error: RestError): ParameterError {
  return { message: error.message, details: errorBody(error) };
}

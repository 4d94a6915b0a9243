import { RestError } from '#plugin-api';
import type { RestRequest, RouteArgument } from '#plugin-api';
import { errorBody } from './error-response.ts';
import type { ParameterFault } from './errors.ts';
import { compileStrictCheck } from './schema/strict-check.ts';
import type { StrictCheck } from './schema/strict-check.ts';
import { findFault, sanitizeValue } from './schema/validate.ts';

/** One argument of an endpoint, compiled when it is first used. */
export interface Argument {
  readonly name: string;
  readonly required: boolean;
  readonly default: unknown;
  /** The argument's own check, before all sources are coerced; null accepts. Undefined: the schema checks. */
  readonly validate: ((value: unknown, request: RestRequest) => Promise<ParameterFault | null>) | undefined;
  /** The value to use, or the refusal. Answers at once unless the argument has a function of its own. */
  readonly accept: (value: unknown, request: RestRequest) => Accepted | Promise<Accepted>;
}

export type Accepted = { readonly value: unknown } | { readonly fault: ParameterFault };

/**
 * An argument without `type` is neither checked nor coerced by its schema, as in WordPress; `validate` takes the place of
 * the schema's check, `sanitize` that of its coercion.
 */
export function compileArgument(name: string, definition: RouteArgument): Argument {
  const { validate, sanitize } = definition;
  return {
    name,
    required: definition.required === true,
    default: definition.default ?? undefined,
    validate: validate && (async (value, request) => refusal(await settle(() => validate(value, request, name)))),
    accept: sanitize === undefined ? schemaOnly(name, definition) : withSanitize(name, definition),
  };
}

function schemaOnly(name: string, definition: RouteArgument): Argument['accept'] {
  if (definition.type === undefined) return (value) => ({ value });
  if (definition.validate !== undefined) {
    return (value) => ({
      value: findFault(value, definition, name) === null ? sanitizeValue(value, definition, name) : value,
    });
  }
  let isStrict: StrictCheck | undefined;
  return (value) => {
    isStrict ??= compileStrictCheck(definition);
    if (isStrict(value)) return { value };
    const found = findFault(value, definition, name);
    return found === null
      ? { value: sanitizeValue(value, definition, name) }
      : { fault: { message: found.message, details: found } };
  };
}

function withSanitize(name: string, definition: RouteArgument): Argument['accept'] {
  const checked = definition.type !== undefined && definition.validate === undefined;
  return async (value, request) => {
    const found = checked ? findFault(value, definition, name) : null;
    if (found !== null) return { fault: { message: found.message, details: found } };
    const sanitized = await settle(() => definition.sanitize?.(value, request, name));
    return sanitized instanceof RestError ? { fault: refusalOf(sanitized) } : { value: sanitized };
  };
}

/** A RestError counts alike whether it is answered or thrown. */
async function settle(run: () => unknown): Promise<unknown> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof RestError) return error;
    throw error;
  }
}

function refusal(answer: unknown): ParameterFault | null {
  if (answer === false) return { message: 'Invalid parameter.' };
  if (typeof answer === 'string')
    return { message: answer, details: { code: 'rest_invalid_param', message: answer, data: null } };
  return answer instanceof RestError ? refusalOf(answer) : null;
}

function refusalOf(error: RestError): ParameterFault {
  return { message: error.message, details: errorBody(error) };
}

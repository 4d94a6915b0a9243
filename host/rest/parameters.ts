import { textError, type Params, type RestError } from '#plugin-api';
import type { Endpoint } from './endpoint.ts';
import { hostErrors, invalidParameters, unreadableParameter } from './host-errors.ts';
import type { ParameterError } from './host-errors.ts';
import type { HostRequest } from './host-request.ts';

/**
 * Reads a request's parameters for an endpoint, in WordPress's order: unreadable body, missing arguments, arguments'
 * own checks, then validation and coercion by the schemas. One error lists all invalid arguments (D4).
 * Sets `request.params`; the sources hold the coerced values too.
 *
 * @returns the error, or null.
 */
export async function readParameters(request: HostRequest, endpoint: Endpoint, url: Params): Promise<RestError | null> {
  const unreadable = decodeUrl(request, url) ?? request.unreadable();
  if (unreadable !== null) return unreadable;
  const sources = request.sources(endpoint.defaults());
  const missing = endpoint.required.filter((name) => find(sources, name) === undefined);
  if (missing.length > 0) return hostErrors.missingParameters(missing);
  const refused = (await ownChecks({ request, endpoint, sources })) ?? (await coerce({ request, endpoint, sources }));
  if (refused === null) request.params = merge(sources);
  return refused;
}

/** Escapes in the path are decoded after matching, so an escaped slash cannot change the route. */
function decodeUrl(request: HostRequest, url: Params): RestError | null {
  request.url = url;
  for (const name of Object.keys(url)) {
    const value = url[name];
    if (typeof value !== 'string' || !value.includes('%')) continue;
    try {
      const decoded = decodeURIComponent(value);
      const error = textError(name, decoded);
      if (error !== null) return unreadableParameter(name, error);
      request.url = { ...request.url, [name]: decoded };
    } catch {
      return unreadableParameter(name, `${name} contains invalid percent-escapes.`);
    }
  }
  if (request.url === url) request.url = { ...url };
  return null;
}

interface Reading {
  readonly request: HostRequest;
  readonly endpoint: Endpoint;
  readonly sources: readonly Params[];
}

/** The first value that is not null. */
function find(sources: readonly Params[], name: string): unknown {
  for (const source of sources) {
    if (!Object.hasOwn(source, name)) continue;
    const value = source[name];
    if (value !== null && value !== undefined) return value;
  }
  return undefined;
}

async function ownChecks({ request, endpoint, sources }: Reading): Promise<RestError | null> {
  if (endpoint.validated.length === 0) return null;
  const errors = new Map<string, ParameterError>();
  for (const name of endpoint.validated) {
    const value = find(sources, name);
    const error = value === undefined ? null : ((await endpoint.args.get(name)?.validate?.(value, request)) ?? null);
    if (error !== null) errors.set(name, error);
  }
  return errors.size === 0 ? null : invalidParameters(errors);
}

async function coerce({ request, endpoint, sources }: Reading): Promise<RestError | null> {
  const { args } = endpoint;
  if (args.size === 0) return null;
  let errors: Map<string, ParameterError> | null = null;
  for (const source of sources) {
    for (const name of Object.keys(source)) {
      const argument = args.get(name);
      if (argument === undefined) continue;
      const result = argument.accept(source[name], request);
      const accepted = result instanceof Promise ? await result : result;
      if ('value' in accepted) source[name] = accepted.value;
      else (errors ??= new Map<string, ParameterError>()).set(name, accepted.error);
    }
  }
  return errors === null ? null : invalidParameters(errors);
}

function merge(sources: readonly Params[]): Params {
  const merged: Params = {};
  for (let index = sources.length - 1; index >= 0; index -= 1) Object.assign(merged, sources[index]);
  return merged;
}

import type { RestApi, RestRequest, RouteDefinition } from '#plugin-api';

/**
 * The same REST interface, with every error of a route's functions told to `report` before it goes on its way.
 * Errors that are answers, those with a `code` and a `status`, are not failures of the plugin.
 */
export function reportingRest(rest: RestApi, report: (error: unknown) => void): RestApi {
  return {
    registerRoute(namespace, route, definition) {
      const definitions = (Array.isArray(definition) ? definition : [definition]) as RouteDefinition[];
      return rest.registerRoute(
        namespace,
        route,
        definitions.map((each) => (typeof each === 'object' ? reporting(each, report) : each)),
      );
    },
    dispatch: (route, init) => rest.dispatch(route, init),
    url: (route) => rest.url(route),
  };
}

const routeFunctions = ['authenticate', 'permission', 'validate', 'handler'] as const;

function reporting(definition: RouteDefinition, report: (error: unknown) => void): RouteDefinition {
  const wrapped: Record<string, unknown> = { ...definition };
  /** What fails because the caller hung up is no fault of the plugin. */
  const fail = (error: unknown, request: RestRequest): never => {
    if (!isAnswer(error) && !request.signal.aborted) report(error);
    throw error;
  };
  for (const name of routeFunctions) {
    const run = definition[name] as ((request: RestRequest) => unknown) | undefined;
    if (typeof run !== 'function') continue;
    wrapped[name] = (request: RestRequest): unknown => {
      try {
        const result = run.call(definition, request);
        return result instanceof Promise ? result.catch((error: unknown) => fail(error, request)) : result;
      } catch (error) {
        return fail(error, request);
      }
    };
  }
  return wrapped as unknown as RouteDefinition;
}

function isAnswer(error: unknown): boolean {
  const { code, status } = (error ?? {}) as { code?: unknown; status?: unknown };
  return typeof code === 'string' && Number.isInteger(status) && (status as number) >= 400 && (status as number) <= 599;
}

import type { RestResponse } from '#plugin-api';
import { allowedMethods } from './allow.ts';
import { isErrorResponse } from './error-response.ts';
import { filterFields } from './fields.ts';
import type { RouteRegistry } from './registry.ts';
import type { HostRequest } from './request.ts';
import type { Rest } from './rest-contract.ts';
import type { RestFilters } from './rest-filters.ts';

export interface FinishDependencies {
  readonly filters: RestFilters;
  readonly registry: RouteRegistry;
  readonly rest: () => Rest;
}

export type Finish = (response: RestResponse, request: HostRequest) => Promise<RestResponse>;

/** What follows every dispatch: the header Allow, the wanted fields, and `rest_post_dispatch`. */
export function createFinish({ filters, registry, rest }: FinishDependencies): Finish {
  return async (response, request) => {
    const route = request.method === 'OPTIONS' ? registry.matchPath(request.route)?.route : request.match?.route;
    const allow = route === undefined ? null : await allowedMethods(request, route);
    if (allow !== null) response.headers['Allow'] ??= allow;
    const wanted = request.params['_fields'] ?? request.query['_fields'];
    if (wanted !== undefined && !isErrorResponse(response)) response.body = filterFields(response.body, wanted);
    return (await filters.run('rest_post_dispatch', response, rest(), request)) as RestResponse;
  };
}

import { asRecord, isRecord, RestResponse, trimTrailingSlashes } from '#plugin-api';
import type { JsonSchema, Params, RestError, RestRequest, RouteDefinition } from '#plugin-api';
import { endContent, withoutContent } from './response-content.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { Embedder } from './embed.ts';
import { errorResponse } from './error-response.ts';
import { hostErrors } from './host-errors.ts';
import type { ErrorReader } from './error-response.ts';
import type { Finish } from './finish.ts';
import { parseQuery } from './php-query.ts';
import type { Match, RouteRegistry } from './registry.ts';
import type { HostRequest } from './host-request.ts';
import type { RestFilters } from './rest-filters.ts';

export interface BatchDependencies {
  readonly registry: RouteRegistry;
  readonly dispatcher: Dispatcher;
  readonly embedder: Embedder;
  readonly errors: ErrorReader;
  readonly filters: RestFilters;
  readonly finish: Finish;
}

/** One request of a batch, prepared or refused. */
interface Part {
  readonly request: HostRequest;
  readonly match: Match | null;
  readonly error: RestError | null;
}

export interface Envelope {
  readonly body: unknown;
  readonly status: number;
  /** An empty list when there are none, as PHP encodes empty maps. */
  readonly headers: Readonly<Record<string, string>> | readonly never[];
}

export function envelope(response: RestResponse, body: unknown): Envelope {
  const { status, headers } = response;
  return { body, status, headers: Object.keys(headers).length === 0 ? [] : headers };
}

/**
 * `POST /batch/v1`: up to 25 requests to routes that allow it, run in order, each handled like a separate request.
 * With `require-all-validate` none runs unless the parameters of all are valid.
 */
export function createBatchRoute({
  registry,
  dispatcher,
  embedder,
  filters,
  finish,
  errors,
}: BatchDependencies): RouteDefinition {
  const readPart = async (outer: HostRequest, given: Params): Promise<Part> => {
    const [path = '', query = ''] = String(given['path']).split(/\?(.*)/s);
    const request = outer.inner({
      method: String(given['method'] ?? 'POST'),
      route: trimTrailingSlashes(path),
      query: parseQuery(query),
      form: asRecord(given['body']),
      headers: readHeaders(given['headers']),
    });
    if (!path.startsWith('/')) return { request, match: null, error: hostErrors.batchPath() };
    const match = registry.match(request.method, request.route);
    request.match = match;
    if (match === null) return { request, match, error: hostErrors.noRoute() };
    if (!match.route.allowsBatch) return { request, match, error: hostErrors.batchNotAllowed() };
    return { request, match, error: await dispatcher.prepare(request, match) };
  };

  const runPart = async (part: Part): Promise<Envelope> => {
    const { request } = part;
    const response = await finish(await respond(part), request);
    endContent(response.content);
    const finished = withoutContent(response);
    return envelope(finished, await embedder.buildBody(finished, request, false));
  };

  /** `rest_pre_dispatch` sees every part, as WordPress does it: limits and refusals of plugins hold in batches too. */
  const respond = async ({ request, match, error }: Part): Promise<RestResponse> => {
    try {
      const early = await dispatcher.preDispatch(request);
      if (early !== null) return early;
      if (match === null || (error !== null && !match.route.allowsBatch))
        return errorResponse(error ?? hostErrors.noRoute());
      return await dispatcher.conclude(request, match, error);
    } catch (thrown) {
      return errorResponse(errors.fromElsewhere(thrown, request));
    }
  };

  const handler = async (outer: RestRequest): Promise<RestResponse> => {
    const parts: Part[] = [];
    for (const given of outer.params['requests'] as Params[]) parts.push(await readPart(outer as HostRequest, given));
    if (outer.params['validation'] === 'require-all-validate' && parts.some(({ error }) => error !== null)) {
      const responses = parts.map(({ error }) => (error === null ? null : refused(error)));
      return new RestResponse({ status: 207, body: { failed: 'validation', responses } });
    }
    const responses: Envelope[] = [];
    for (const part of parts) responses.push(await runPart(part));
    return new RestResponse({ status: 207, body: { responses } });
  };

  return {
    methods: ['POST'],
    summary: 'Runs several requests in one call.',
    responses: {
      207: {
        description: 'One response per request, in order. With require-all-validate, none ran if one was refused.',
        schema: responseSchema,
      },
    },
    args: batchArguments(() => Number(filters.runNow('rest_get_max_batch_size', 25))),
    handler,
  };
}

const responseSchema: JsonSchema = {
  type: 'object',
  properties: {
    failed: { type: 'string', enum: ['validation'] },
    responses: {
      type: 'array',
      required: true,
      items: {
        type: ['object', 'null'],
        properties: { body: {}, status: { type: 'integer' }, headers: { type: ['object', 'array'] } },
      },
    },
  },
};

function refused(error: RestError): Envelope {
  const response = errorResponse(error);
  return envelope(response, response.body);
}

function readHeaders(given: unknown): Record<string, string> {
  if (!isRecord(given)) return {};
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name.toLowerCase(),
      Array.isArray(value) ? value.join(',') : String(value),
    ]),
  );
}

/** The limit is read per request: plugins that filter it load after this route is registered. */
function batchArguments(maxItems: () => number): NonNullable<RouteDefinition['args']> {
  return {
    validation: { type: 'string', enum: ['require-all-validate', 'normal'], default: 'normal' },
    requests: {
      required: true,
      type: 'array',
      get maxItems() {
        return maxItems();
      },
      items: {
        type: 'object',
        properties: {
          method: { type: 'string', enum: ['POST', 'PUT', 'PATCH', 'DELETE'], default: 'POST' },
          path: { type: 'string', required: true, maxLength: 2_000 },
          body: { type: 'object', properties: {}, additionalProperties: true },
          headers: {
            type: 'object',
            properties: {},
            additionalProperties: {
              type: ['string', 'array'],
              maxLength: 8_192,
              maxItems: 100,
              items: { type: 'string', maxLength: 8_192 },
            },
          },
        },
      },
    },
  };
}

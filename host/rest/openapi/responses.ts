import type { JsonSchema, OpenApiObject, RouteResponse, RouteDefinition } from '#plugin-api';
import { authSchemesOf } from '../auth-schemes.ts';
import type { Components } from './components.ts';
import { sharedErrorResponse, errorContent } from './error-responses.ts';
import type { ErrorStatus } from './error-responses.ts';

export interface ResponseContext {
  readonly definition: RouteDefinition;
  readonly method: string;
  /** The route's schema, possibly from another definition of the route. */
  readonly schema: JsonSchema | undefined;
  readonly hasPathParameters: boolean;
  readonly hasBody: boolean;
}

/** Responses by status: the route's own, else a plain 200, and the host errors that its callers can receive (D4). */
export function describeResponses(context: ResponseContext, components: Components): OpenApiObject {
  const { definition, schema } = context;
  const { errorSchema } = definition;
  const errors = errorSchema === undefined ? errorContent() : jsonContent(components.schema(errorSchema));
  const own = Object.entries(definition.responses ?? {}).map(
    ([status, response]) => [status, describe(response, { status, schema, errors, components })] as const,
  );
  const isSuccess = own.some(([status]) => Number(status) < 400);
  const shared = errorStatuses(context)
    .filter((status) => definition.responses?.[status] === undefined)
    .map((status) => {
      const { name, response } = sharedErrorResponse(status, errors);
      return [String(status), components.refer('responses', name, response)] as const;
    });
  return Object.fromEntries([
    ...(isSuccess ? [] : [['200', defaultResponse(context, components)] as const]),
    ...own,
    ...shared,
  ]);
}

function describe(
  { description, schema, headers = {} }: RouteResponse,
  {
    status,
    schema: routeSchema,
    errors,
    components,
  }: { status: string; schema: JsonSchema | undefined; errors: OpenApiObject; components: Components },
): OpenApiObject {
  const isError = Number(status) >= 400;
  const body = schema ?? (isError ? undefined : routeSchema);
  const content = body !== undefined ? jsonContent(components.schema(body)) : isError ? errors : undefined;
  return {
    description,
    ...(Object.keys(headers).length > 0 && { headers: headerObjects(headers) }),
    ...(content !== undefined && status !== '204' && status !== '304' && { content }),
  };
}

const pagingHeaders = {
  'X-WP-Total': { description: 'Total number of items.', schema: { type: 'integer' } },
  'X-WP-TotalPages': { description: 'Number of pages.', schema: { type: 'integer' } },
  Link: { description: 'URLs of the next and the previous page.', schema: { type: 'string' } },
};

function defaultResponse({ definition, method, schema }: ResponseContext, components: Components): OpenApiObject {
  const item = schema === undefined ? {} : components.schema(schema);
  const isPaged =
    method === 'GET' && definition.args?.['page'] !== undefined && definition.args['per_page'] !== undefined;
  if (!isPaged) return { description: 'Success.', content: jsonContent(item) };
  return {
    description: 'One page of the list.',
    headers: pagingHeaders,
    content: jsonContent({ type: 'array', items: item }),
  };
}

function errorStatuses({ definition, hasPathParameters, hasBody }: ResponseContext): ErrorStatus[] {
  const isOpen = authSchemesOf(definition).every((scheme) => scheme === 'none');
  const hasParameters = Object.keys(definition.args ?? {}).length > 0 || definition.validate !== undefined;
  const possible: readonly (readonly [ErrorStatus, boolean])[] = [
    [400, hasParameters || hasBody],
    [401, !isOpen],
    [403, definition.permission !== undefined],
    [404, hasPathParameters],
    [413, hasBody],
    [429, definition.authenticate === undefined],
    [500, true],
  ];
  return possible.filter(([, isPossible]) => isPossible).map(([status]) => status);
}

function jsonContent(schema: OpenApiObject): OpenApiObject {
  return { 'application/json': { schema } };
}

function headerObjects(headers: Readonly<Record<string, string>>): OpenApiObject {
  return Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  );
}

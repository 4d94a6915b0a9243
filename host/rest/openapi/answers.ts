import type { JsonSchema, OpenApiObject, RouteAnswer, RouteDefinition } from '#plugin-api';
import { waysIn } from '../ways-in.ts';
import type { Components } from './components.ts';
import { errorAnswer, errorContent } from './errors.ts';
import type { ErrorStatus } from './errors.ts';

export interface AnswerQuestion {
  readonly definition: RouteDefinition;
  readonly method: string;
  /** The schema of the route, which another definition of it may have given. */
  readonly schema: JsonSchema | undefined;
  readonly hasPathParameters: boolean;
  readonly hasBody: boolean;
}

/** Answers by status: the route's own, else a plain 200, and the host's errors that can meet its callers (D4). */
export function answersOf(question: AnswerQuestion, components: Components): OpenApiObject {
  const { definition, schema } = question;
  const own = Object.entries(definition.responses ?? {}).map(
    ([status, answer]) => [status, describe(answer, { status, schema, components })] as const,
  );
  const isSuccess = own.some(([status]) => Number(status) < 400);
  const shared = errorStatuses(question)
    .filter((status) => definition.responses?.[status] === undefined)
    .map((status) => {
      const { name, answer } = errorAnswer(status);
      return [String(status), components.refer('responses', name, answer)] as const;
    });
  return Object.fromEntries([
    ...(isSuccess ? [] : [['200', plainAnswer(question, components)] as const]),
    ...own,
    ...shared,
  ]);
}

function describe(
  { description, schema, headers = {} }: RouteAnswer,
  {
    status,
    schema: routeSchema,
    components,
  }: { status: string; schema: JsonSchema | undefined; components: Components },
): OpenApiObject {
  const isError = Number(status) >= 400;
  const body = schema ?? (isError ? undefined : routeSchema);
  const content = body !== undefined ? jsonContent(components.schema(body)) : isError ? errorContent() : undefined;
  return {
    description,
    ...(Object.keys(headers).length > 0 && { headers: headerObjects(headers) }),
    ...(content !== undefined && status !== '204' && status !== '304' && { content }),
  };
}

const pagingHeaders = {
  'X-WP-Total': { description: 'Number of all items.', schema: { type: 'integer' } },
  'X-WP-TotalPages': { description: 'Number of pages.', schema: { type: 'integer' } },
  Link: { description: 'Addresses of the next and the previous page.', schema: { type: 'string' } },
};

function plainAnswer({ definition, method, schema }: AnswerQuestion, components: Components): OpenApiObject {
  const item = schema === undefined ? {} : components.schema(schema);
  const isPaged =
    method === 'GET' && definition.args?.['page'] !== undefined && definition.args['per_page'] !== undefined;
  if (!isPaged) return { description: 'Done.', content: jsonContent(item) };
  return {
    description: 'One page of the list.',
    headers: pagingHeaders,
    content: jsonContent({ type: 'array', items: item }),
  };
}

function errorStatuses({ definition, hasPathParameters, hasBody }: AnswerQuestion): ErrorStatus[] {
  const isOpen = waysIn(definition).every((way) => way === 'none');
  const takesParameters = Object.keys(definition.args ?? {}).length > 0 || definition.validate !== undefined;
  const possible: readonly (readonly [ErrorStatus, boolean])[] = [
    [400, takesParameters || hasBody],
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

import {
  lazy,
  RestError,
  RestResponse,
  restError,
  type HooksApi,
  type McpPrompt,
  type McpResourceSource,
  type RestApi,
  type RestErrorBody,
  type RestRequest,
  type User,
} from '#plugin-api';
import type { Abilities } from '../abilities.ts';
import { createFindCaller, type FindCaller } from '../caller.ts';
import { metadataAddress, takesBearerKeys, type McpSite } from './protected-resource.ts';

declare module '#plugin-api' {
  interface FilterMap {
    /** Kinds of resources that the MCP server offers. */
    mcp_resources: (
      sources: readonly McpResourceSource[],
    ) => readonly McpResourceSource[] | Promise<readonly McpResourceSource[]>;
    /** Prompts that the MCP server offers the user. */
    mcp_prompts: (prompts: readonly McpPrompt[], user: User) => readonly McpPrompt[] | Promise<readonly McpPrompt[]>;
  }
}

export interface McpDependencies {
  readonly abilities: Abilities;
  readonly hooks: Pick<HooksApi, 'applyFiltersAsync' | 'hasFilter'>;
  readonly rest: Pick<RestApi, 'dispatch'>;
  readonly site: McpSite;
  /** A schema of the plugin API as JSON Schema 2020-12. */
  readonly translateSchema: (schema: unknown) => Record<string, unknown>;
  /** Whether pages of another origin may call the REST interface. */
  readonly isAllowedOrigin: (origin: string) => boolean;
}

/**
 * The MCP server at `{root}/mcp/v1` (D34): streamable HTTP without sessions, so that any node can serve any request. Callers
 * sign in with an application password, a session with its nonce, or a key of a plugin (`ability_caller`).
 */
export function addMcpRoute(rest: RestApi, given: McpDependencies): void {
  const authenticate = createAuthenticate(given);
  const handle = lazy(async () => (await import('./mcp-server.ts')).createMcpServer(given));
  const shared = {
    security: ['session', 'application_password', 'bearer'],
    permission: async (request: RestRequest) => (await authenticate(request)).user.id > 0,
  } as const;
  rest.registerRoute('mcp', '/v1', [
    {
      ...shared,
      methods: ['POST'],
      summary: 'Takes messages of the Model Context Protocol.',
      errorBody: toErrorBody,
      permissionBeforeBody: async (request) => (await authenticate(request)).user.id > 0,
      handler: async (request) =>
        Array.isArray(request.json) ? refuseBatch() : handle(request, await authenticate(request)),
    },
    {
      ...shared,
      methods: ['GET', 'DELETE'],
      summary: 'Refuses: the MCP server has no sessions, and sends messages only in responses.',
      handler: () => {
        throw new RestError({
          code: 'mcp_method_not_allowed',
          message: 'Send messages with POST: the server has no sessions.',
          status: 405,
          headers: { Allow: 'POST' },
        });
      },
    },
  ]);
}

/** Versions since 2025-06-18 have no batches. One would count as one request of its key, however many tools it calls (D46). */
const refuseBatch = (): RestResponse =>
  new RestResponse({
    status: 400,
    body: jsonRpcError(-32600, 'Batches are not supported. Send one message per request.'),
  });

/** What is no JSON is an error of JSON-RPC. Before that a request is one of the REST interface, with its errors. */
function toErrorBody(error: RestErrorBody): unknown {
  return error.code === 'rest_invalid_json' ? jsonRpcError(-32700, 'Parse error: the body is not valid JSON.') : error;
}

const jsonRpcError = (code: number, message: string) => ({ jsonrpc: '2.0', error: { code, message }, id: null });

/** @throws RestError 401, or 403 for a page of another origin. */
function createAuthenticate({ hooks, site, isAllowedOrigin }: McpDependencies): FindCaller {
  const findCaller = createFindCaller(hooks, 'mcp');
  const challenge = async (): Promise<Record<string, string>> => {
    const realm = (await site.name()).replace(/[^ -~]|["\\]/g, '');
    const bearer = takesBearerKeys(hooks) ? `, Bearer resource_metadata="${metadataAddress(site)}"` : '';
    return { 'WWW-Authenticate': `Basic realm="${realm}", charset="UTF-8"${bearer}` };
  };
  return async (request) => {
    checkOrigin(request, { site, isAllowedOrigin });
    try {
      const caller = await findCaller(request);
      if (caller.user.id > 0) return caller;
    } catch (error) {
      if (!(error instanceof RestError) || error.status !== 401) throw error;
      const { code, message, status, data, headers } = error;
      throw new RestError({ code, message, status, data, headers: { ...headers, ...(await challenge()) } });
    }
    throw new RestError({
      code: 'rest_not_logged_in',
      message: 'Sign in with an application password, or with a key whose scope is mcp.',
      status: 401,
      headers: await challenge(),
    });
  };
}

/** A page of another site must not reach the server by a name that it points here (DNS rebinding). */
function checkOrigin(
  { headers }: RestRequest,
  { site, isAllowedOrigin }: Pick<McpDependencies, 'site' | 'isAllowedOrigin'>,
): void {
  const { origin } = headers;
  if (origin === undefined || origin === new URL(site.url).origin || isAllowedOrigin(origin)) return;
  throw restError(
    403,
    'mcp_origin_not_allowed',
    'Pages of this origin may not use the MCP server. An administrator can allow it in the settings of REST.',
  );
}

import {
  isRecord,
  RestResponse,
  type AbilityCaller,
  type McpCompletion,
  type McpPrompt,
  type McpResourceSource,
  type RestRequest,
} from '#plugin-api';
import {
  createMcpHandler,
  isLegacyRequest,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { isAllowed, runAllowed, userFor } from '../caller.ts';
import type { McpDependencies } from './mcp-route.ts';
import { listResources, postSources } from './resources.ts';
import { findTool, toErrorResult, toInput, toResult, toTool } from './tools.ts';

/**
 * Serves each request with a new server. Calls of tools are streamed where the client takes streams. Requests since version
 * 2026-07-28 say their version and their client in `_meta`; the others come from clients that began with `initialize`.
 */
export function createMcpServer(given: McpDependencies) {
  const servers = new WeakMap<Request, Server>();
  const find = ({ requestInfo }: { readonly requestInfo?: Request }): Server => {
    const server = requestInfo && servers.get(requestInfo);
    if (server === undefined) throw new Error('This request to the MCP server has no server.');
    return server;
  };
  const whole = createMcpHandler(find, { legacy: 'reject' });
  const streamed = createMcpHandler(find, { legacy: 'reject', responseMode: 'sse' });
  return async (request: RestRequest, caller: AbilityCaller): Promise<RestResponse> => {
    const { json } = request;
    const sent = toRequest(given, request);
    const server = await createServer(given, { request, caller });
    if (json === undefined || (await isLegacyRequest(sent, json))) return serveLegacy(server, request, sent);
    servers.set(sent, server);
    const response = await (streams(request) ? streamed : whole).fetch(sent, { parsedBody: json });
    return toRestResponse(response, () => Promise.resolve());
  };
}

/** Serves a request of a version up to 2025-11-25. */
async function serveLegacy(server: Server, request: RestRequest, sent: Request): Promise<RestResponse> {
  const { json, signal } = request;
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: !streams(request) });
  // Its optional members are undefined where the interface has none.
  await server.connect(transport as Parameters<Server['connect']>[0]);
  const close = (): Promise<void> => server.close().catch(() => undefined);
  const hungUp = new Promise<Response>((resolve) => {
    signal.addEventListener('abort', () => void close().then(() => resolve(new Response(null, { status: 202 }))));
  });
  return toRestResponse(
    await Promise.race([transport.handleRequest(sent, { parsedBody: json ?? null }), hungUp]),
    close,
  );
}

/** @param close called once the response is read */
async function toRestResponse(response: Response, close: () => Promise<void>): Promise<RestResponse> {
  const { status, body } = response;
  const headers = Object.fromEntries(response.headers.entries());
  if (body !== null && headers['content-type'] === 'text/event-stream')
    return new RestResponse({ status, headers, content: endWith(body, close) });
  const text = await response.text();
  await close();
  return new RestResponse({ status, headers, body: text === '' ? null : (JSON.parse(text) as unknown) });
}

function streams({ headers, json }: RestRequest): boolean {
  const takesStreams = headers['accept']?.includes('text/event-stream') ?? false;
  return takesStreams && isRecord(json) && json['method'] === 'tools/call';
}

/** The transport wants both types, and reads no other headers of ours than those of the protocol. */
function toRequest({ site }: McpDependencies, { headers, signal }: RestRequest): Request {
  const own = Object.entries(headers).filter(([name]) => name.startsWith('mcp-'));
  return new Request(`${site.url}/mcp/v1`, {
    method: 'POST',
    signal,
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': headers['content-type'] ?? '',
      ...Object.fromEntries(own),
    },
  });
}

async function* endWith(body: ReadableStream<Uint8Array>, close: () => Promise<void>): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) yield chunk;
  } finally {
    await close();
  }
}

interface Call {
  readonly request: RestRequest;
  readonly caller: AbilityCaller;
}

async function createServer(given: McpDependencies, call: Call): Promise<Server> {
  const { site } = given;
  const server = new Server(
    { name: 'svc', title: await site.name(), version: site.version },
    { capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} } },
  );
  addTools(server, given, call);
  addResources(server, given, call.caller);
  addPrompts(server, given, call.caller);
  addCompletions(server, given, call.caller);
  return server;
}

function addTools(server: Server, given: McpDependencies, { request, caller }: Call): void {
  const { abilities, translateSchema } = given;
  server.setRequestHandler('tools/list', async () => ({
    tools: (await abilities.listPublic())
      .filter((ability) => isAllowed(ability, caller))
      .map((ability) => toTool(ability, translateSchema)),
  }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq: { signal } }) => {
    const ability = findTool(await abilities.listPublic(), params.name);
    if (ability === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${params.name}`);
    try {
      const input = toInput(ability, params.arguments);
      const output = await runAllowed(ability, caller, (user) =>
        abilities.run(ability.name, input, { user, signal, request }),
      );
      return toResult(ability, output);
    } catch (error) {
      return toErrorResult(error);
    }
  });
}

function addResources(server: Server, { hooks, rest }: McpDependencies, caller: AbilityCaller): void {
  const readSources = () => hooks.applyFiltersAsync('mcp_resources', postSources(rest));
  server.setRequestHandler('resources/list', async ({ params }) => {
    const page = await listResources(await readSources(), caller, params?.cursor);
    if (page === null) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The cursor is not valid');
    return page;
  });
  server.setRequestHandler('resources/templates/list', async () => ({
    resourceTemplates: (await readSources()).map(({ uriTemplate, name, description }) => ({
      uriTemplate,
      name,
      description,
    })),
  }));
  server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
    const source = (await readSources()).find(({ prefix }) => uri.startsWith(prefix));
    const found = (await source?.read(uri, userFor(source.ability ?? null, caller))) ?? null;
    if (found === null) throw new ResourceNotFoundError(uri, 'Resource not found');
    return { contents: [{ uri, mimeType: found.mimeType ?? 'text/plain', text: found.text }] };
  });
}

function addPrompts(server: Server, { hooks }: McpDependencies, caller: AbilityCaller): void {
  const readPrompts = () => hooks.applyFiltersAsync('mcp_prompts', [], userFor(null, caller));
  server.setRequestHandler('prompts/list', async () => ({
    prompts: (await readPrompts()).map(({ render: _render, arguments: values, ...prompt }) => ({
      ...prompt,
      ...(values && { arguments: values.map(({ complete: _complete, ...value }) => value) }),
    })),
  }));
  server.setRequestHandler('prompts/get', async ({ params }) => {
    const prompt = (await readPrompts()).find(({ name }) => name === params.name);
    if (prompt === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt ${params.name}`);
    const values = params.arguments ?? {};
    checkArguments(prompt, values);
    return {
      ...(prompt.description !== undefined && { description: prompt.description }),
      messages: [{ role: 'user' as const, content: { type: 'text' as const, text: await prompt.render(values) } }],
    };
  });
}

/** @throws ProtocolError that names the arguments that are missing. */
function checkArguments(prompt: McpPrompt, values: Readonly<Record<string, string>>): void {
  const missing = (prompt.arguments ?? []).filter(({ name, required }) => required === true && !values[name]);
  if (missing.length > 0)
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `Missing arguments of the prompt: ${missing.map(({ name }) => name).join(', ')}`,
    );
}

function addCompletions(server: Server, { hooks, rest }: McpDependencies, caller: AbilityCaller): void {
  server.setRequestHandler('completion/complete', async ({ params }) => {
    const { ref, argument, context } = params;
    const completion = { ...argument, values: context?.arguments ?? {} };
    const [sources, prompts] =
      ref.type === 'ref/resource'
        ? [await hooks.applyFiltersAsync('mcp_resources', postSources(rest)), []]
        : [[], await hooks.applyFiltersAsync('mcp_prompts', [], userFor(null, caller))];
    const found = await completeArgument(ref, completion, { sources, prompts, caller });
    if (found === null)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `There is no ${ref.type === 'ref/prompt' ? `prompt ${ref.name}` : `resource template ${ref.uri}`}`,
      );
    return { completion: found };
  });
}

/** Values of one response, as the protocol limits them. */
const maxValues = 100;

type Reference =
  { readonly type: 'ref/prompt'; readonly name: string } | { readonly type: 'ref/resource'; readonly uri: string };

interface CompletionParts {
  readonly sources: readonly McpResourceSource[];
  readonly prompts: readonly McpPrompt[];
  readonly caller: AbilityCaller;
}

/**
 * Suggests values of an argument of a prompt, or of a part of a template of addresses. None where its plugin suggests none.
 *
 * @returns null if there is no such prompt or template
 */
async function completeArgument(
  ref: Reference,
  completion: Omit<McpCompletion, 'user' | 'limit'>,
  { sources, prompts, caller }: CompletionParts,
): Promise<{ values: string[]; hasMore: boolean } | null> {
  const { name } = completion;
  const limit = maxValues + 1;
  let found: readonly string[] | undefined;
  if (ref.type === 'ref/resource') {
    const source = sources.find(({ uriTemplate }) => uriTemplate === ref.uri);
    if (source === undefined) return null;
    found = await source.complete?.({ ...completion, limit, user: userFor(source.ability ?? null, caller) });
  } else {
    const prompt = prompts.find((given) => given.name === ref.name);
    if (prompt === undefined) return null;
    const argument = prompt.arguments?.find((given) => given.name === name);
    found = await argument?.complete?.({ ...completion, limit, user: userFor(null, caller) });
  }
  const values = found ?? [];
  return { values: values.slice(0, maxValues), hasMore: values.length > maxValues };
}

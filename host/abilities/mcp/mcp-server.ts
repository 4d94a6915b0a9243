import { isRecord, RestResponse, type AbilityCaller, type McpPrompt, type RestRequest } from '#plugin-api';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { isAllowed, runAllowed, userFor } from '../caller.ts';
import type { McpDependencies } from './mcp-route.ts';
import { listResources, postSources } from './resources.ts';
import { findTool, toErrorResult, toInput, toResult, toTool } from './tools.ts';

/** JSON-RPC code of the protocol for a resource that does not exist. */
const resourceNotFound = -32002;

/** Serves each request with a new server. Calls of tools are streamed where the client takes streams. */
export function createMcpServer(given: McpDependencies) {
  return async (request: RestRequest, caller: AbilityCaller): Promise<RestResponse> => {
    const { headers, json, signal } = request;
    const takesStreams = headers['accept']?.includes('text/event-stream') ?? false;
    const transport = new WebStandardStreamableHTTPServerTransport({
      enableJsonResponse: !takesStreams || !callsTool(json),
    });
    const server = await createServer(given, { request, caller });
    // Its optional members are undefined where the interface has none.
    await server.connect(transport as Parameters<Server['connect']>[0]);
    const close = (): Promise<void> => server.close().catch(() => undefined);
    const hungUp = new Promise<Response>((resolve) => {
      signal.addEventListener('abort', () => void close().then(() => resolve(new Response(null, { status: 202 }))));
    });
    const response = await Promise.race([
      transport.handleRequest(toRequest(given, request), { parsedBody: json ?? null }),
      hungUp,
    ]);
    const { status, body } = response;
    const sent = Object.fromEntries(response.headers.entries());
    if (body !== null && sent['content-type'] === 'text/event-stream')
      return new RestResponse({ status, headers: sent, content: endWith(body, close) });
    const text = await response.text();
    await close();
    return new RestResponse({ status, headers: sent, body: text === '' ? null : (JSON.parse(text) as unknown) });
  };
}

const callsTool = (json: unknown): boolean => isRecord(json) && json['method'] === 'tools/call';

/** The transport wants both types, and reads no other headers of ours. */
function toRequest({ site }: McpDependencies, { headers }: RestRequest): Request {
  const version = headers['mcp-protocol-version'];
  return new Request(`${site.url}/mcp/v1`, {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': headers['content-type'] ?? '',
      ...(version !== undefined && { 'mcp-protocol-version': version }),
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
    { capabilities: { tools: {}, resources: {}, prompts: {} } },
  );
  addTools(server, given, call);
  addResources(server, given, call.caller);
  addPrompts(server, given, call.caller);
  return server;
}

function addTools(server: Server, given: McpDependencies, { request, caller }: Call): void {
  const { abilities, translateSchema } = given;
  server.setRequestHandler(ListToolsRequestSchema, async () => ({
    tools: (await abilities.listPublic())
      .filter((ability) => isAllowed(ability, caller))
      .map((ability) => toTool(ability, translateSchema)),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const ability = findTool(await abilities.listPublic(), params.name);
    if (ability === undefined) throw new McpError(ErrorCode.InvalidParams, `There is no tool ${params.name}`);
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
  server.setRequestHandler(ListResourcesRequestSchema, async ({ params }) => {
    const page = await listResources(await readSources(), caller, params?.cursor);
    if (page === null) throw new McpError(ErrorCode.InvalidParams, 'The cursor is not valid');
    return page;
  });
  server.setRequestHandler(ListResourceTemplatesRequestSchema, async () => ({
    resourceTemplates: (await readSources()).map(({ uriTemplate, name, description }) => ({
      uriTemplate,
      name,
      description,
    })),
  }));
  server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }) => {
    const source = (await readSources()).find(({ prefix }) => uri.startsWith(prefix));
    const found = (await source?.read(uri, userFor(source.ability ?? null, caller))) ?? null;
    if (found === null) throw new McpError(resourceNotFound, 'Resource not found', { uri });
    return { contents: [{ uri, mimeType: found.mimeType ?? 'text/plain', text: found.text }] };
  });
}

function addPrompts(server: Server, { hooks }: McpDependencies, caller: AbilityCaller): void {
  const readPrompts = () => hooks.applyFiltersAsync('mcp_prompts', [], userFor(null, caller));
  server.setRequestHandler(ListPromptsRequestSchema, async () => ({
    prompts: (await readPrompts()).map(({ render: _render, arguments: values, ...prompt }) => ({
      ...prompt,
      ...(values && { arguments: values.map((value) => ({ ...value })) }),
    })),
  }));
  server.setRequestHandler(GetPromptRequestSchema, async ({ params }) => {
    const prompt = (await readPrompts()).find(({ name }) => name === params.name);
    if (prompt === undefined) throw new McpError(ErrorCode.InvalidParams, `There is no prompt ${params.name}`);
    const values = params.arguments ?? {};
    checkArguments(prompt, values);
    return {
      ...(prompt.description !== undefined && { description: prompt.description }),
      messages: [{ role: 'user' as const, content: { type: 'text' as const, text: await prompt.render(values) } }],
    };
  });
}

/** @throws McpError that names the arguments that are missing. */
function checkArguments(prompt: McpPrompt, values: Readonly<Record<string, string>>): void {
  const missing = (prompt.arguments ?? []).filter(({ name, required }) => required === true && !values[name]);
  if (missing.length > 0)
    throw new McpError(
      ErrorCode.InvalidParams,
      `Missing arguments of the prompt: ${missing.map(({ name }) => name).join(', ')}`,
    );
}

import { Client as NewestClient, StreamableHTTPClientTransport as NewestTransport } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createMeasure, type Kind } from './measure.ts';
import { startWorldSite, type WorldSite } from './site.ts';

/* MCP as clients speak it: the official client, and what its newest versions send. */

export const kind: Kind = {
  title: 'mcp: what clients ask of the server',
  async run() {
    const site = await startWorldSite();
    const measure = createMeasure('what clients ask');
    try {
      const authorization = await site.applicationPassword();
      for (const [name, check] of Object.entries(checks)) {
        const reason = await check({ site, authorization }).catch((error: unknown) => String(error));
        measure.add(name, reason);
      }
    } finally {
      await site.stop();
    }
    return [measure.row()];
  },
};

interface Server {
  readonly site: WorldSite;
  readonly authorization: string;
}

type Check = (server: Server) => Promise<string | null>;

const checks: Readonly<Record<string, Check>> = {
  'the official client connects': (server) => withClient(server, () => Promise.resolve(null)),
  'tools/list': (server) =>
    withClient(server, async (client) => ((await client.listTools()).tools.length > 0 ? null : 'no tools')),
  'tools/call': (server) =>
    withClient(server, async (client) => {
      const { isError } = await client.callTool({ name: 'svc_list-knowledge-bases', arguments: {} });
      return isError === true ? 'the call failed' : null;
    }),
  'resources/list': (server) =>
    withClient(server, async (client) => (Array.isArray((await client.listResources()).resources) ? null : 'no list')),
  'resources/templates/list': (server) =>
    withClient(server, async (client) =>
      (await client.listResourceTemplates()).resourceTemplates.length > 0 ? null : 'no templates',
    ),
  'prompts/list': (server) =>
    withClient(server, async (client) => (Array.isArray((await client.listPrompts()).prompts) ? null : 'no list')),
  ping: (server) => withClient(server, async (client) => ((await client.ping()) ? null : 'no answer')),
  'completion/complete is declared': (server) =>
    withClient(server, (client) =>
      Promise.resolve(client.getServerCapabilities()?.completions === undefined ? 'not declared' : null),
    ),
  // This version has no `initialize`: a client asks with `server/discover`, and says its version with each request.
  'protocol 2026-07-28 is accepted': async ({ site, authorization }) => {
    const client = new NewestClient({ name: 'world', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
    await client.connect(
      new NewestTransport(new URL('/wp-json/mcp/v1', site.url), { requestInit: { headers: { authorization } } }),
    );
    try {
      const version = client.getNegotiatedProtocolVersion();
      if (version !== '2026-07-28') return `agreed on ${String(version)}`;
      return (await client.listTools()).tools.length > 0 ? null : 'no tools';
    } finally {
      await client.close();
    }
  },
  'broken JSON is -32700': (server) => post(server, '{"jsonrpc": "2.0", "id": 1,', codeIs(-32700)),
  'an unknown method is -32601 with its id': (server) =>
    post(server, { jsonrpc: '2.0', id: 'seven', method: 'no/such' }, ({ body }) => {
      const { id, error } = body as { readonly id?: unknown; readonly error?: { readonly code: number } };
      return id === 'seven' && error?.code === -32601 ? null : JSON.stringify(body);
    }),
  'a batch is refused in the form of JSON-RPC': (server) =>
    post(server, [{ jsonrpc: '2.0', id: 1, method: 'ping' }], codeIs(-32600)),
  '/.well-known/oauth-protected-resource': async ({ site }) => {
    const response = await fetch(`${site.url}/.well-known/oauth-protected-resource`);
    return response.ok ? null : `status ${response.status}`;
  },
};

async function withClient(
  { site, authorization }: Server,
  check: (client: Client) => Promise<string | null>,
): Promise<string | null> {
  const client = new Client({ name: 'world', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL('/wp-json/mcp/v1', site.url), {
    requestInit: { headers: { authorization } },
  });
  await client.connect(transport as never);
  try {
    return await check(client);
  } finally {
    await client.close();
  }
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

async function post(
  { site, authorization }: Server,
  body: unknown,
  check: (answer: Answer) => string | null,
): Promise<string | null> {
  const response = await fetch(`${site.url}/wp-json/mcp/v1`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const json = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  return check({ status: response.status, body: JSON.parse(json) as unknown });
}

const codeIs =
  (code: number) =>
  ({ body }: Answer): string | null =>
    (body as { readonly error?: { readonly code: number } }).error?.code === code ? null : JSON.stringify(body);

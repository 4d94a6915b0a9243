import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult, ListResourcesResult, Resource } from '@modelcontextprotocol/sdk/types.js';
import { createTestHost, type TestHost } from '#testing';
import { createApplicationPasswords } from '../../host/users/application-passwords.ts';

const roles = ['administrator', 'editor', 'subscriber'] as const;
type Role = (typeof roles)[number];

export interface McpSite {
  readonly host: TestHost;
  readonly address: URL;
  /** Header of an application password of a user with the role. */
  readonly authorization: Readonly<Record<Role, string>>;
  /** `disconnect` closes the client. */
  connect(headers: Record<string, string>): Promise<Client>;
  connectAs(role: Role): Promise<Client>;
  disconnect(): Promise<void>;
  post(body: unknown, headers?: Record<string, string>): Promise<Response>;
  /** A named key, as the header `authorization`. */
  createKey(...flags: string[]): Promise<string>;
}

/** A site with the service, its sandbox, and a user of each role. */
export async function startMcpSite(): Promise<McpSite> {
  const host = await createTestHost({ plugins: ['svc', 'sandbox'] });
  const passwords = createApplicationPasswords(host);
  const authorization = { administrator: '', editor: '', subscriber: '' };
  for (const role of roles) {
    const email = `${role}@example.com`;
    const user = await host.users.create({ login: role, email, password: 'correct horse battery', role });
    const { password } = await passwords.create(user.id, 'MCP');
    authorization[role] = `Basic ${Buffer.from(`${role}:${password}`).toString('base64')}`;
  }
  const address = new URL('/wp-json/mcp/v1', host.url);
  const open: Client[] = [];
  const connect = async (headers: Record<string, string>): Promise<Client> => {
    const client = new Client({ name: 'tests', version: '1.0.0' });
    await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }) as never);
    open.push(client);
    return client;
  };
  return {
    host,
    address,
    authorization,
    connect,
    connectAs: (role) => connect({ authorization: authorization[role] }),
    async disconnect() {
      for (const client of open.splice(0)) await client.close();
    },
    async post(body, headers = {}) {
      const response = await host.fetch('/wp-json/mcp/v1', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
      // A long response that stays unread would keep the site from stopping.
      const text = await response.text();
      return new Response(text, { status: response.status, headers: response.headers });
    },
    async createKey(...flags) {
      const { out } = await host.cli('svc', 'key', 'create', '--name=MCP', ...flags, '--json');
      return `Bearer ${(JSON.parse(out) as { key: string }).key}`;
    },
  };
}

export async function callTool(
  client: Client,
  name: string,
  values: Readonly<Record<string, unknown>> = {},
): Promise<CallToolResult> {
  return (await client.callTool({ name, arguments: values })) as CallToolResult;
}

/** The resources of all pages. */
export async function listAllResources(client: Client): Promise<Resource[]> {
  const found: Resource[] = [];
  let page: ListResourcesResult | null = null;
  do {
    page = await client.listResources(page?.nextCursor === undefined ? {} : { cursor: page.nextCursor });
    found.push(...page.resources);
  } while (page.nextCursor !== undefined);
  return found;
}

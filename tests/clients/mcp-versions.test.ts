import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { createTestHost, type TestHost } from '#testing';
import { startMcpSite, type McpSite } from './mcp-site.ts';

const version = '2026-07-28';
const envelope = {
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientInfo': { name: 'tests', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

describe('the MCP server, since version 2026-07-28', () => {
  let site: McpSite;
  let host: TestHost;
  const open: Client[] = [];
  before(async function () {
    this.timeout(60_000);
    site = await startMcpSite();
    host = site.host;
  });
  afterEach(async () => {
    for (const client of open.splice(0)) await client.close();
    await site.disconnect();
  });
  after(() => host.stop());

  const connect = async (mode: 'auto' | 'legacy' | { pin: string }, authorization = site.authorization.editor) => {
    const client = new Client({ name: 'tests', version: '1' }, { versionNegotiation: { mode } });
    await client.connect(
      new StreamableHTTPClientTransport(site.address, { requestInit: { headers: { authorization } } }),
    );
    open.push(client);
    return client;
  };
  const send = async (method: string, params: object = {}, headers: Record<string, string> = {}) => {
    const response = await site.post(
      { jsonrpc: '2.0', id: 'seven', method, params: { ...params, _meta: envelope } },
      {
        ...{ authorization: site.authorization.editor, accept: 'application/json, text/event-stream' },
        ...{ 'mcp-protocol-version': version, 'mcp-method': method, ...headers },
      },
    );
    const text = await response.text();
    const type = response.headers.get('content-type') ?? '';
    return { status: response.status, type, body: JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text) as unknown };
  };

  it('serves its official client in each way to agree on a version', async () => {
    const { id } = await host.content.posts.create({ title: 'Hello', content: 'Text', status: 'publish' });
    for (const [mode, agreed] of [
      ['auto', version],
      [{ pin: version }, version],
      ['legacy', '2025-11-25'],
    ] as const) {
      const client = await connect(mode);
      expect(client.getNegotiatedProtocolVersion(), String(mode)).to.equal(agreed);
      expect(client.getServerVersion()).to.include({ name: 'svc', version: '1.0.0' });
      expect(client.getServerCapabilities()).to.deep.equal({ tools: {}, resources: {}, prompts: {}, completions: {} });
      expect((await client.listTools()).tools.map(({ name }) => name)).to.include('host_read-post');
      const read = await client.callTool({ name: 'host_read-post', arguments: { id } });
      expect(read.structuredContent).to.include({ id, title: 'Hello' });
      const invalid = await client.callTool({ name: 'host_read-post', arguments: { id: 'none' } });
      expect(invalid.isError).to.equal(true);
      const uri = `wp://posts/${String(id)}`;
      expect((await client.listResources()).resources.map((resource) => resource.uri)).to.include(uri);
      expect((await client.readResource({ uri })).contents[0]).to.include({ mimeType: 'text/html' });
      const { prompts } = await client.listPrompts();
      const { messages } = await client.getPrompt({ name: prompts[0]?.name ?? '', arguments: { topic: 'Blue tea' } });
      expect(messages[0]?.content).to.have.property('text').that.includes('Blue tea');
    }
  });

  it('says what it can without a handshake, and serves each request alone', async () => {
    const discovered = await send('server/discover');
    expect(discovered.status).to.equal(200);
    expect(discovered.body).to.have.nested.property('result.supportedVersions').that.deep.equals([version]);
    expect(discovered.body).to.have.nested.property('result.resultType', 'complete');
    const run = { name: 'core_get-user-info', arguments: {} };
    const called = await send('tools/call', run, { 'mcp-name': run.name });
    expect(called.type).to.include('text/event-stream');
    expect(called.body).to.have.nested.property('result.structuredContent.user_login', 'editor');
    const whole = await send('tools/call', run, { 'mcp-name': run.name, accept: 'application/json' });
    expect(whole.type).to.include('application/json');
    expect(whole.body).to.deep.equal(called.body);
  });

  it('ends a subscription at once, as nothing of it changes while a client waits', async () => {
    const response = await send('subscriptions/listen', { notifications: { toolsListChanged: true } });
    expect(response.status).to.equal(200);
    expect(response.body).to.have.property('method', 'notifications/subscriptions/acknowledged');
  });

  it('refuses what the version leaves out, with the id of the request', async () => {
    for (const [method, headers, status, code] of [
      ['no/such', {}, 404, -32601],
      ['ping', {}, 404, -32601],
      ['initialize', {}, 404, -32601],
      ['tools/list', { 'mcp-method': 'tools/call' }, 400, -32020],
      ['tools/list', { 'mcp-protocol-version': '2025-11-25' }, 400, -32020],
    ] as const) {
      const response = await send(method, {}, headers);
      expect(response.status, method).to.equal(status);
      expect(response.body, method).to.include({ id: 'seven' }).and.have.nested.property('error.code', code);
    }
    const headers = { authorization: site.authorization.editor, 'mcp-protocol-version': version };
    const bare = await site.post({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers);
    expect(bare.status).to.equal(400);
    const meta = { ...envelope, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' };
    const later = await site.post(
      { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } },
      { ...headers, 'mcp-protocol-version': '2099-01-01', 'mcp-method': 'tools/list' },
    );
    expect(later.status).to.equal(400);
    expect(await later.json())
      .to.have.nested.property('error.data.supported')
      .that.includes(version);
  });

  it('asks for credentials and scopes at this door too', async () => {
    expect((await send('server/discover', {}, { authorization: 'Bearer wrong' })).status).to.equal(401);
    const other = await site.createKey('--routes=generate');
    expect((await send('server/discover', {}, { authorization: other })).status).to.equal(403);
    const { id } = await host.content.posts.create({ title: 'To the trash', status: 'publish' });
    const reader = await site.createKey('--routes=mcp');
    const trash = { name: 'host_trash-post', arguments: { id } };
    const refused = await send('tools/call', trash, { 'mcp-name': trash.name, authorization: reader });
    expect(refused.body).to.have.nested.property('result.content[0].text').that.includes('ability_not_in_scope');
  });

  it('answers a body that is no JSON in the form of JSON-RPC', async () => {
    const response = await host.fetch('/wp-json/mcp/v1', {
      method: 'POST',
      headers: { authorization: site.authorization.editor, 'content-type': 'application/json' },
      body: '{"jsonrpc": "2.0", "id": 1,',
    });
    expect([response.status, await response.json()]).to.deep.equal([
      400,
      { jsonrpc: '2.0', error: { code: -32700, message: 'Parse error: the body is not valid JSON.' }, id: null },
    ]);
  });

  it('describes itself to clients that look for keys', async () => {
    const path = '/.well-known/oauth-protected-resource';
    for (const [at, resource] of [
      [`${path}/wp-json/mcp/v1`, `${host.url}/wp-json/mcp/v1`],
      [path, host.url],
    ] as const) {
      const response = await host.fetch(at);
      const described = { resource, resource_name: await host.site.name(), bearer_methods_supported: ['header'] };
      expect([response.status, await response.json()], at).to.deep.equal([200, described]);
      expect(response.headers.get('access-control-allow-origin')).to.equal('*');
    }
    expect((await host.fetch(`${path}/wp-json/wp/v2`)).status).to.equal(404);
    const { headers } = await site.post({ jsonrpc: '2.0', id: 1, method: 'ping' });
    expect(headers.get('www-authenticate')).to.include(`Bearer resource_metadata="${host.url}${path}/wp-json/mcp/v1"`);
  });

  it('names no keys on a site without a plugin that takes them', async () => {
    const plain = await createTestHost({ plugins: [] });
    try {
      expect((await plain.fetch('/.well-known/oauth-protected-resource')).status).to.equal(404);
      const refused = await plain.fetch('/wp-json/mcp/v1', { method: 'POST', body: '{}' });
      expect(refused.headers.get('www-authenticate')).to.match(/^Basic realm="[^"]+", charset="UTF-8"$/);
    } finally {
      await plain.stop();
    }
  });

  it('suggests values for arguments of prompts and parts of addresses', async () => {
    const client = await connect('auto');
    const { prompts } = await client.listPrompts();
    const prompt = { type: 'ref/prompt', name: prompts[0]?.name ?? '' } as const;
    const posts = { type: 'ref/resource', uri: 'wp://posts/{id}' } as const;
    const complete = async (ref: typeof prompt | typeof posts, name: string, value: string) =>
      (await client.complete({ ref, argument: { name, value } })).completion;
    await host.content.posts.create({ title: 'Green tea in spring', status: 'draft' });
    await host.content.posts.create({ title: 'Coffee', status: 'draft' });
    expect((await complete(prompt, 'topic', 'tea')).values).to.deep.equal(['Green tea in spring']);
    expect((await complete(prompt, 'topic', '')).values).to.include.members(['Coffee', 'Green tea in spring']);
    expect(await complete(prompt, 'keywords', 'a')).to.deep.equal({ values: [], hasMore: false });
    const { id } = await host.content.posts.create({ title: 'Oolong', status: 'publish' });
    const hidden = await host.content.posts.create({ title: 'Oolong draft', status: 'draft' });
    expect((await complete(posts, 'id', 'oolong')).values).to.deep.equal([String(id)]);
    expect((await complete(posts, 'id', String(id))).values).to.include(String(id));
    expect((await complete(posts, 'id', '')).values).to.not.include(String(hidden.id));
    const undo = host.hooks.addFilter('mcp_prompts', (given) => [
      ...given,
      {
        name: 'many',
        arguments: [{ name: 'n', complete: ({ limit }) => Promise.resolve(Array(limit).fill('x') as string[]) }],
        render: () => '',
      },
    ]);
    const many = await complete({ ...prompt, name: 'many' }, 'n', '');
    expect([many.values.length, many.hasMore]).to.deep.equal([100, true]);
    undo();
    for (const ref of [{ ...prompt, name: 'none' }, { ...posts, uri: 'none://{id}' } as unknown as typeof posts])
      expect(await complete(ref, 'id', '').catch((error: unknown) => error)).to.have.property('code', -32_602);
  });
});

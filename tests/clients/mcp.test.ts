import {
  CallToolResultSchema,
  GetPromptResultSchema,
  InitializeResultSchema,
  ListPromptsResultSchema,
  ListResourcesResultSchema,
  ListResourceTemplatesResultSchema,
  ListToolsResultSchema,
  ReadResourceResultSchema,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/sdk/types.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import type { TestHost } from '#testing';
import { callTool, startMcpSite, type McpSite } from './mcp-site.ts';

const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

describe('the MCP server, for its official client', () => {
  let site: McpSite;
  let host: TestHost;
  before(async function () {
    this.timeout(60_000);
    site = await startMcpSite();
    host = site.host;
  });
  afterEach(() => site.disconnect());
  after(() => host.stop());

  it('offers abilities as tools with their schemas and annotations', async () => {
    const { tools } = await (await site.connectAs('editor')).listTools();
    expect(tools.map(({ name }) => name)).to.include.members([
      'core_get-site-info',
      'host_list-posts',
      'host_create-draft',
      'host_trash-post',
    ]);
    for (const { name } of tools) expect(name).to.match(/^[a-zA-Z0-9_-]{1,64}$/);
    const read = tools.find(({ name }) => name === 'host_read-post');
    expect(read).to.deep.include({
      title: 'Read post',
      annotations: { title: 'Read post', readOnlyHint: true, destructiveHint: false, idempotentHint: true },
    });
    expect(read?.inputSchema).to.deep.include({ type: 'object', required: ['id'], additionalProperties: false });
    expect(read?.outputSchema).to.have.nested.property('properties.content.type', 'string');
    const trash = tools.find(({ name }) => name === 'host_trash-post');
    expect(trash?.annotations).to.include({ readOnlyHint: false, destructiveHint: true });
  });

  it('runs tools for the user, validated, with structured output', async () => {
    const editor = await site.connectAs('editor');
    await editor.listTools();
    const created = await callTool(editor, 'host_create-draft', { title: 'By a model', content: '<p>Hello</p>' });
    expect(created.structuredContent).to.include({ status: 'draft', title: 'By a model' });
    const { id } = created.structuredContent as { id: number };
    expect(JSON.parse((created.content[0] as { text: string }).text)).to.deep.equal(created.structuredContent);
    const drafts = await callTool(editor, 'host_list-posts', { status: 'draft', search: 'model' });
    expect(drafts.structuredContent).to.deep.include({ total: 1 });
    const invalid = await callTool(editor, 'host_read-post', { id: 'none' });
    expect(invalid).to.have.nested.property('content[0].text').that.includes('input[id] is not of type integer');
    expect(invalid.isError).to.equal(true);
    const subscriber = await site.connectAs('subscriber');
    for (const [name, values] of [
      ['host_read-post', { id }],
      ['host_create-draft', { title: 'Mine' }],
      ['host_trash-post', { id }],
      ['core_get-site-info', {}],
    ] as const)
      expect((await callTool(subscriber, name, values)).isError, name).to.equal(true);
    expect((await callTool(editor, 'host_trash-post', { id })).structuredContent).to.include({ status: 'trash' });
    const failure = await callTool(editor, 'host_none').catch((error: unknown) => error);
    expect(failure).to.have.property('code', -32_602);
  });

  it('offers posts and pages as resources, page by page', async () => {
    for (let index = 0; index < 52; index += 1)
      await host.content.posts.create({ title: `Post ${index}`, content: 'Text [x]', status: 'publish' });
    const draft = await host.content.posts.create({ title: 'Secret', status: 'draft' });
    const client = await site.connectAs('subscriber');
    const first = await client.listResources();
    expect(first.resources).to.have.length(50);
    const second = await client.listResources({ cursor: first.nextCursor });
    expect(second.resources.map(({ name }) => name)).to.include('Post 0');
    const { contents } = await client.readResource({ uri: second.resources.at(-1)?.uri ?? '' });
    expect(contents[0]).to.include({ mimeType: 'text/html' });
    expect((contents[0] as { text: string }).text)
      .to.include('<h1>Post 0</h1>')
      .and.include('Text');
    const templates = await client.listResourceTemplates();
    expect(templates.resourceTemplates.map(({ uriTemplate }) => uriTemplate)).to.include('wp://posts/{id}');
    for (const uri of [`wp://posts/${draft.id}`, 'wp://posts/x', 'none://1'])
      expect(await client.readResource({ uri }).catch((error: unknown) => error), uri).to.have.property(
        'code',
        -32_602,
      );
    const failure = await client.listResources({ cursor: 'x' }).catch((error: unknown) => error);
    expect(failure).to.have.property('code', -32_602);
  });

  it('offers prompts of plugins', async () => {
    const undo = host.hooks.addFilter('mcp_prompts', (prompts, user) => [
      ...prompts,
      {
        name: 'greet',
        arguments: [{ name: 'person', required: true }],
        render: ({ person = '' }) => `${user.login} greets ${person}`,
      },
    ]);
    const client = await site.connectAs('editor');
    expect((await client.listPrompts()).prompts.at(-1)).to.deep.equal({
      name: 'greet',
      arguments: [{ name: 'person', required: true }],
    });
    const { messages } = await client.getPrompt({ name: 'greet', arguments: { person: 'Ada' } });
    expect(messages[0]?.content).to.deep.equal({ type: 'text', text: 'editor greets Ada' });
    for (const name of ['greet', 'none'])
      expect(await client.getPrompt({ name }).catch((error: unknown) => error)).to.have.property('code', -32_602);
    undo();
  });

  it('asks for credentials, and refuses wrong ones', async () => {
    const refused = await site.post(list);
    expect(refused.status).to.equal(401);
    expect(refused.headers.get('www-authenticate')).to.match(
      /^Basic realm="[^"]+", charset="UTF-8", Bearer resource_metadata="http[^"]+\/\.well-known\/oauth-protected-resource\/wp-json\/mcp\/v1"$/,
    );
    expect((await site.post(list, { authorization: 'Basic eDp5' })).status).to.equal(401);
    expect((await site.post(list, { authorization: 'Bearer wrong' })).status).to.equal(401);
    const large = { ...list, params: { filler: 'x'.repeat(40_000) } };
    expect((await site.post(large)).status).to.equal(401);
    expect((await site.post(large, { authorization: site.authorization.editor })).status).to.equal(200);
  });

  it('lets named keys in, and destructive tools only where their scope names them', async () => {
    const reader = await site.createKey('--routes=mcp,abilities');
    const writer = await site.createKey('--routes=mcp,abilities', '--abilities=host/trash-post');
    const other = await site.createKey('--routes=generate');
    const { id } = await host.content.posts.create({ title: 'To the trash', status: 'publish' });
    expect((await site.post(list, { authorization: other })).status).to.equal(403);
    const client = await site.connect({ authorization: reader });
    expect((await client.listTools()).tools.map(({ name }) => name))
      .to.include('host_create-draft')
      .and.not.include('host_trash-post')
      .and.not.include('svc_run-automation');
    const refused = await callTool(client, 'host_trash-post', { id });
    expect(refused).to.have.nested.property('content[0].text').that.includes('ability_not_in_scope');
    expect((await callTool(client, 'host_create-draft', { title: 'By key' })).structuredContent).to.include({
      author: 1,
    });
    await host.cli('svc', 'sandbox', 'on');
    const limited = await site.connect({ authorization: await site.createKey('--routes=mcp', '--providers=claude') });
    const outside = await callTool(limited, 'svc_generate-text', {
      prompt: 'Hello',
      provider: 'openai',
      model: 'gpt-4o-mini',
    });
    expect(outside).to.have.nested.property('content[0].text').that.includes('rest_svc_key_out_of_scope');
    const path = '/wp-json/wp-abilities/v1/abilities';
    const trash = (authorization: string): Promise<Response> =>
      host.fetch(`${path}/host/trash-post/run`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ input: { id } }),
      });
    const listed = await host.fetch(path, { headers: { authorization: reader } });
    expect(await listed.json()).to.be.an('array');
    expect(listed.status).to.equal(200);
    expect((await host.fetch(path, { headers: { authorization: other } })).status).to.equal(403);
    expect((await trash(reader)).status).to.equal(403);
    expect((await trash(writer)).status).to.equal(200);
    expect((await callTool(await site.connect({ authorization: writer }), 'host_trash-post', { id })).isError).to.equal(
      true,
    );
  });

  it('refuses batches, which would count as one request of a key', async () => {
    const authorization = await site.createKey('--routes=mcp', '--requests-per-minute=2');
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    for (const batch of [[message], [message, message], []]) {
      const response = await site.post(batch, { authorization: site.authorization.editor });
      expect([response.status, await response.json()]).to.deep.equal([
        400,
        {
          jsonrpc: '2.0',
          error: { code: -32600, message: 'Batches are not supported. Send one message per request.' },
          id: null,
        },
      ]);
    }
    const statuses: number[] = [];
    for (let count = 0; count < 3; count += 1) statuses.push((await site.post([message], { authorization })).status);
    expect(statuses).to.deep.equal([400, 400, 429]);
  });

  it('refuses pages of other origins, but not its own and allowed ones', async () => {
    const headers = { authorization: site.authorization.editor };
    expect((await site.post(list, { ...headers, origin: 'https://evil.example' })).status).to.equal(403);
    expect((await site.post(list, { ...headers, origin: host.url })).status).to.equal(200);
    await host.options.update('rest_allowed_origins', ['https://inspector.example']);
    expect((await site.post(list, { ...headers, origin: 'https://inspector.example' })).status).to.equal(200);
  });

  it('answers with JSON or a stream, and keeps no sessions', async () => {
    const headers = { authorization: site.authorization.editor };
    const both = { ...headers, accept: 'application/json, text/event-stream' };
    const run = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'core_get-user-info', arguments: {} } };
    const streamed = await site.post(run, both);
    expect(streamed.headers.get('content-type')).to.equal('text/event-stream');
    expect(await streamed.text()).to.match(/^event: message\ndata: \{.*"user_login":"editor"/);
    for (const given of [headers, { ...headers, accept: 'application/json' }]) {
      const response = await site.post(run, given);
      expect(response.headers.get('content-type')).to.include('application/json');
      expect(await response.json()).to.have.nested.property('result.structuredContent.user_login', 'editor');
    }
    expect((await site.post(list, both)).headers.get('content-type')).to.include('application/json');
    const noted = await site.post({ jsonrpc: '2.0', method: 'notifications/initialized' }, both);
    expect([noted.status, await noted.text()]).to.deep.equal([202, '']);
    for (const method of ['GET', 'DELETE']) {
      const response = await host.fetch('/wp-json/mcp/v1', { method, headers });
      expect([response.status, response.headers.get('allow')]).to.deep.equal([405, 'POST']);
    }
    expect((await site.post({ jsonrpc: '1.0' }, headers)).status).to.equal(400);
    expect((await site.post(list, { ...headers, 'mcp-protocol-version': '1999-01-01' })).status).to.equal(400);
  });

  it('has the same abilities on the command line', async () => {
    expect((await host.cli('ability', 'list')).out)
      .to.include('host/read-post')
      .and.include('core/get-site-info');
    const run = (...args: string[]) => host.cli('ability', 'run', ...args);
    const { out } = await run('host/create-draft', '--input={"title":"From the shell"}', '--user=editor', '--json');
    expect(JSON.parse(out)).to.include({ title: 'From the shell', status: 'draft', author: 2 });
    expect((await run('core/get-user-info')).out).to.include('administrator');
    for (const [args, reason] of [
      [['host/none'], 'Ability not found'],
      [['host/create-draft', '--input={'], '--input is not JSON'],
      [['host/create-draft', '--input={"title":"A"}', '--user=subscriber'], 'not allowed'],
      [['core/get-user-info', '--user=none'], 'There is no user none'],
    ] as const)
      expect(await run(...args))
        .to.deep.include({ code: 1 })
        .and.have.property('err')
        .that.includes(reason);
  });

  for (const protocolVersion of SUPPORTED_PROTOCOL_VERSIONS)
    it(`passes the checks of an inspector in version ${protocolVersion} of the protocol`, async () => {
      const { id } = await host.content.posts.create({ title: 'Hello', content: 'Text', status: 'publish' });
      const headers = { authorization: site.authorization.editor };
      const send = async (method: string, params: object, sent: Record<string, string> = headers): Promise<unknown> => {
        const response = await site.post({ jsonrpc: '2.0', id: 1, method, params }, sent);
        expect(response.status, method).to.equal(200);
        return ((await response.json()) as { result?: unknown }).result;
      };
      const clientInfo = { name: 'inspector', version: '1' };
      const begun = await send('initialize', { protocolVersion, capabilities: {}, clientInfo });
      const { serverInfo, ...negotiated } = InitializeResultSchema.parse(begun);
      expect(serverInfo).to.include({ name: 'svc', version: '1.0.0' });
      expect(negotiated).to.deep.equal({
        protocolVersion,
        capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
      });
      const versioned = { ...headers, 'mcp-protocol-version': protocolVersion };
      const ask = (method: string, params: object = {}) => send(method, params, versioned);
      expect(await ask('ping')).to.deep.equal({});
      const { tools } = ListToolsResultSchema.parse(await ask('tools/list'));
      expect(tools).to.have.length.above(10);
      const read = { name: 'host_read-post', arguments: { id } };
      const result = CallToolResultSchema.parse(await ask('tools/call', read));
      expect(result.structuredContent).to.include({ id, title: 'Hello' });
      const { resources } = ListResourcesResultSchema.parse(await ask('resources/list'));
      expect(resources.map(({ uri }) => uri)).to.include(`wp://posts/${String(id)}`);
      ListResourceTemplatesResultSchema.parse(await ask('resources/templates/list'));
      const { contents } = ReadResourceResultSchema.parse(await ask('resources/read', { uri: `wp://posts/${id}` }));
      expect(contents[0]).to.include({ mimeType: 'text/html' });
      const { prompts } = ListPromptsResultSchema.parse(await ask('prompts/list'));
      const chosen = { name: prompts[0]?.name, arguments: { topic: 'Blue tea' } };
      const { messages } = GetPromptResultSchema.parse(await ask('prompts/get', chosen));
      expect(messages[0]?.content).to.have.property('text').that.includes('Blue tea');
    });

  it('describes tools with schemas that models of every provider can take', async () => {
    const { tools } = await (await site.connectAs('administrator')).listTools();
    const ajv = new Ajv2020({ strict: true, validateFormats: false });
    for (const { name, inputSchema, outputSchema = { type: 'object' } } of tools)
      for (const schema of [inputSchema, outputSchema]) {
        expect(() => ajv.compile(schema), name).to.not.throw();
        // Dialects such as that of Gemini have one type, and no references.
        expect(JSON.stringify(schema), name).to.not.match(/"type":\s*\[|"\$ref"|"additionalProperties":\{/);
      }
  });
});

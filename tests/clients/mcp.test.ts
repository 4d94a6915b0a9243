import { randomUUID } from 'node:crypto';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { SUPPORTED_PROTOCOL_VERSIONS, type CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { expect } from 'chai';
import { createTestHost, type TestHost } from '#testing';
import { createApplicationPasswords } from '../../host/users/application-passwords.ts';
import { createConversationStore } from '../../plugins/svc/modules/chatbots/conversations/conversation-store.ts';

type Role = 'administrator' | 'editor' | 'subscriber';

describe('the MCP server, for its official client', () => {
  let host: TestHost;
  const authorization: Partial<Record<Role, string>> = {};
  const open: Client[] = [];
  before(async function () {
    this.timeout(60_000);
    host = await createTestHost({ plugins: ['svc', 'sandbox'] });
    const passwords = createApplicationPasswords(host);
    for (const role of ['administrator', 'editor', 'subscriber'] as const) {
      const user = await host.users.create({
        login: role,
        email: `${role}@example.com`,
        password: 'correct horse battery',
        role,
      });
      const { password } = await passwords.create(user.id, 'MCP');
      authorization[role] = `Basic ${Buffer.from(`${role}:${password}`).toString('base64')}`;
    }
  });
  afterEach(async () => {
    for (const client of open.splice(0)) await client.close();
  });
  after(() => host.stop());

  const address = (): URL => new URL('/wp-json/mcp/v1', host.url);

  async function connect(headers: Record<string, string>): Promise<Client> {
    const client = new Client({ name: 'tests', version: '1.0.0' });
    await client.connect(new StreamableHTTPClientTransport(address(), { requestInit: { headers } }) as never);
    open.push(client);
    return client;
  }
  const connectAs = (role: Role): Promise<Client> => connect({ authorization: authorization[role] ?? '' });
  const call = async (client: Client, name: string, values: Record<string, unknown> = {}): Promise<CallToolResult> =>
    (await client.callTool({ name, arguments: values })) as CallToolResult;
  const post = (body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    host.fetch('/wp-json/mcp/v1', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const createKey = async (...flags: string[]): Promise<string> => {
    const { out } = await host.cli('svc', 'key', 'create', '--name=MCP', ...flags, '--json');
    return `Bearer ${(JSON.parse(out) as { key: string }).key}`;
  };
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

  it('offers abilities as tools with their schemas and annotations', async () => {
    const { tools } = await (await connectAs('editor')).listTools();
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
    const editor = await connectAs('editor');
    await editor.listTools();
    const created = await call(editor, 'host_create-draft', { title: 'By a model', content: '<p>Hello</p>' });
    expect(created.structuredContent).to.include({ status: 'draft', title: 'By a model' });
    const { id } = created.structuredContent as { id: number };
    expect(JSON.parse((created.content[0] as { text: string }).text)).to.deep.equal(created.structuredContent);
    const drafts = await call(editor, 'host_list-posts', { status: 'draft', search: 'model' });
    expect(drafts.structuredContent).to.deep.include({ total: 1 });
    const invalid = await call(editor, 'host_read-post', { id: 'none' });
    expect(invalid).to.have.nested.property('content[0].text').that.includes('input[id] is not of type integer');
    expect(invalid.isError).to.equal(true);
    const subscriber = await connectAs('subscriber');
    for (const [name, values] of [
      ['host_read-post', { id }],
      ['host_create-draft', { title: 'Mine' }],
      ['host_trash-post', { id }],
      ['core_get-site-info', {}],
    ] as const)
      expect((await call(subscriber, name, values)).isError, name).to.equal(true);
    expect((await call(editor, 'host_trash-post', { id })).structuredContent).to.include({ status: 'trash' });
    const failure = await call(editor, 'host_none').catch((error: unknown) => error);
    expect(failure).to.have.property('code', -32_602);
  });

  it('offers posts and pages as resources, page by page', async () => {
    for (let index = 0; index < 52; index += 1)
      await host.content.posts.create({ title: `Post ${index}`, content: 'Text [x]', status: 'publish' });
    const draft = await host.content.posts.create({ title: 'Secret', status: 'draft' });
    const client = await connectAs('subscriber');
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
        -32_002,
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
    const client = await connectAs('editor');
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

  it('offers what the AI service can do', async () => {
    expect((await host.cli('svc', 'sandbox', 'on')).code).to.equal(0);
    const client = await connectAs('administrator');
    const values = { prompt: 'Say hello.', provider: 'openai', model: 'gpt-4o-mini' };
    const { structuredContent } = await call(client, 'svc_generate-text', values);
    expect(structuredContent).to.have.property('content').that.is.a('string').and.not.empty;
    const usage = await call(client, 'svc_usage', { by: 'module', period: 'today' });
    expect(usage).to.have.nested.property('structuredContent.groups').that.is.an('array');
    expect((await call(client, 'svc_list-knowledge-bases')).structuredContent).to.deep.equal({ bases: [] });
    const missing = await call(client, 'svc_search-knowledge', { base: 7, question: 'Why?' });
    expect(missing).to.have.nested.property('content[0].text').that.includes('rest_svc_knowledge_base_not_found');
    expect((await call(await connectAs('subscriber'), 'svc_generate-text', values)).isError).to.equal(true);
    const { prompts } = await client.listPrompts();
    const prompt = prompts.find(({ name }) => name.startsWith('template-'));
    const { messages } = await client.getPrompt({ name: prompt?.name ?? '', arguments: { topic: 'Blue tea' } });
    expect((messages[0]?.content as { text: string }).text).to.include('Blue tea');
    expect((await (await connectAs('subscriber')).listPrompts()).prompts).to.deep.equal([]);
  });

  it('runs automations, but not paused ones and those whose source fails', async () => {
    const client = await connectAs('administrator');
    const createTask = async (source: object): Promise<number> => {
      const task = { name: 'Teas', type: 'content_writing', source };
      const { out, err } = await host.cli('svc', 'task', 'create', '--json', JSON.stringify(task));
      expect(err).to.equal('');
      return (JSON.parse(out) as { id: number }).id;
    };
    const id = await createTask({ kind: 'list', items: ['Blue tea', 'Green tea'] });
    const run = (values: object) => call(client, 'svc_run-automation', { ...values });
    expect((await run({ id })).structuredContent).to.deep.equal({ found: 2, added: 2, message: '2 new items queued.' });
    expect((await run({ id })).structuredContent).to.deep.equal({
      found: 2,
      added: 0,
      message: 'The source has no new entries.',
    });
    const listed = await call(client, 'svc_list-automations');
    const { automations } = listed.structuredContent as { automations: readonly Record<string, unknown>[] };
    expect(automations.find((task) => task['id'] === id)).to.include({ name: 'Teas', status: 'active' });
    await host.cli('svc', 'task', 'pause', String(id));
    const broken = await createTask({ kind: 'rss', url: 'http://127.0.0.1:1/feed' });
    for (const [given, code] of [
      [id, 'rest_svc_task_paused'],
      [broken, 'rest_svc_task_source_failed'],
      [999, 'rest_svc_task_not_found'],
      [0, 'ability_invalid_input'],
    ] as const) {
      const refused = await run({ id: given });
      expect(refused.isError, code).to.equal(true);
      expect(refused).to.have.nested.property('content[0].text').that.includes(code);
    }
    const outsider = await connectAs('editor');
    for (const name of ['svc_run-automation', 'svc_list-automations', 'svc_search-chat-logs', 'svc_webhook-status'])
      expect(await call(outsider, name, name === 'svc_run-automation' ? { id } : {}), name)
        .to.have.nested.property('content[0].text')
        .that.includes('rest_ability_cannot_execute');
  });

  it('reports the status of the webhooks as the command does', async () => {
    const { structuredContent } = await call(await connectAs('administrator'), 'svc_webhook-status');
    const { out } = await host.cli('svc', 'queue', 'status', '--json');
    expect(structuredContent).to.deep.equal(JSON.parse(out)).and.to.include({ webhooks: 'off', failed: 0 });
  });

  it('searches chat logs, by a key as far as its scope allows', async () => {
    const bots: number[] = [];
    for (const name of ['Shop', 'Help']) {
      const { out } = await host.cli('svc', 'bot', 'create', '--json', JSON.stringify({ name }));
      bots.push((JSON.parse(out) as { id: number }).id);
    }
    const [shop = 0, help = 0] = bots;
    const start = { userId: 0, sessionId: 's', module: 'chatbot', pageUrl: '', ip: '', consentedAt: null } as const;
    const store = createConversationStore({ host: { database: host.database, clock: host.clock } });
    for (const [botId, content] of [
      [shop, 'Do you ship to Oslo?'],
      [help, 'Where is my parcel?'],
      [shop, 'Thanks.'],
    ] as const) {
      const { id } = await store.start({ ...start, uuid: randomUUID(), botId });
      await store.append(id, [{ id: randomUUID(), role: 'user', content }]);
    }
    interface Found {
      readonly total: number;
      readonly conversations: readonly {
        readonly bot_name: string;
        readonly messages: readonly { content: string }[];
      }[];
    }
    const search = async (client: Client, values: object = {}): Promise<Found> =>
      (await call(client, 'svc_search-chat-logs', { ...values })).structuredContent as unknown as Found;
    const administrator = await connectAs('administrator');
    expect(await search(administrator, { per_page: 1, page: 3 })).to.include({ total: 3 });
    const { total, conversations } = await search(administrator, { message_search: 'oslo' });
    expect([total, conversations[0]?.bot_name, conversations[0]?.messages[0]?.content]).to.deep.equal([
      ...[1, 'Shop', 'Do you ship to Oslo?'],
    ]);
    const undo = host.hooks.addFilter('svc_logs_rows', (rows) =>
      rows.map(({ messages: _removed, ...row }) => row as never),
    );
    expect((await search(administrator, { bot_id: help })).conversations[0])
      .to.include({ bot_name: 'Help' })
      .and.not.have.property('messages');
    undo();
    const withKey = (...flags: string[]) => createKey(...flags).then((key) => connect({ authorization: key }));
    const limited = await withKey('--routes=mcp,logs', `--chatbots=${String(help)}`);
    expect(await search(limited, { bot_id: help })).to.include({ total: 1 });
    for (const [client, values] of [
      [limited, { bot_id: shop }],
      [limited, {}],
      [await withKey('--routes=mcp'), {}],
    ] as const)
      expect(await call(client, 'svc_search-chat-logs', values))
        .to.have.nested.property('content[0].text')
        .that.includes('rest_svc_key_out_of_scope');
  });

  it('asks for credentials, and refuses wrong ones', async () => {
    const refused = await post(list);
    expect(refused.status).to.equal(401);
    expect(refused.headers.get('www-authenticate')).to.match(/^Basic realm="[^"]+", charset="UTF-8", Bearer$/);
    expect((await post(list, { authorization: 'Basic eDp5' })).status).to.equal(401);
    expect((await post(list, { authorization: 'Bearer wrong' })).status).to.equal(401);
    const large = { ...list, params: { filler: 'x'.repeat(40_000) } };
    expect((await post(large)).status).to.equal(401);
    expect((await post(large, { authorization: authorization.editor ?? '' })).status).to.equal(200);
  });

  it('lets named keys in, and destructive tools only where their scope names them', async () => {
    const reader = await createKey('--routes=mcp,abilities');
    const writer = await createKey('--routes=mcp,abilities', '--abilities=host/trash-post');
    const other = await createKey('--routes=generate');
    const { id } = await host.content.posts.create({ title: 'To the trash', status: 'publish' });
    expect((await post(list, { authorization: other })).status).to.equal(403);
    const client = await connect({ authorization: reader });
    expect((await client.listTools()).tools.map(({ name }) => name))
      .to.include('host_create-draft')
      .and.not.include('host_trash-post')
      .and.not.include('svc_run-automation');
    const refused = await call(client, 'host_trash-post', { id });
    expect(refused).to.have.nested.property('content[0].text').that.includes('ability_not_in_scope');
    expect((await call(client, 'host_create-draft', { title: 'By key' })).structuredContent).to.include({ author: 1 });
    await host.cli('svc', 'sandbox', 'on');
    const limited = await connect({ authorization: await createKey('--routes=mcp', '--providers=claude') });
    const outside = await call(limited, 'svc_generate-text', {
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
    expect((await host.fetch(path, { headers: { authorization: reader } })).status).to.equal(200);
    expect((await host.fetch(path, { headers: { authorization: other } })).status).to.equal(403);
    expect((await trash(reader)).status).to.equal(403);
    expect((await trash(writer)).status).to.equal(200);
    expect((await call(await connect({ authorization: writer }), 'host_trash-post', { id })).isError).to.equal(true);
  });

  it('refuses pages of other origins, but not its own and allowed ones', async () => {
    const headers = { authorization: authorization.editor ?? '' };
    expect((await post(list, { ...headers, origin: 'https://evil.example' })).status).to.equal(403);
    expect((await post(list, { ...headers, origin: host.url })).status).to.equal(200);
    await host.options.update('rest_allowed_origins', ['https://inspector.example']);
    expect((await post(list, { ...headers, origin: 'https://inspector.example' })).status).to.equal(200);
  });

  it('answers with JSON or a stream, and keeps no sessions', async () => {
    const headers = { authorization: authorization.editor ?? '' };
    const both = { ...headers, accept: 'application/json, text/event-stream' };
    const run = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'core_get-user-info', arguments: {} } };
    const streamed = await post(run, both);
    expect(streamed.headers.get('content-type')).to.equal('text/event-stream');
    expect(await streamed.text()).to.match(/^event: message\ndata: \{.*"user_login":"editor"/);
    for (const given of [headers, { ...headers, accept: 'application/json' }]) {
      const response = await post(run, given);
      expect(response.headers.get('content-type')).to.include('application/json');
      expect(await response.json()).to.have.nested.property('result.structuredContent.user_login', 'editor');
    }
    expect((await post(list, both)).headers.get('content-type')).to.include('application/json');
    const noted = await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, both);
    expect([noted.status, await noted.text()]).to.deep.equal([202, '']);
    for (const method of ['GET', 'DELETE']) {
      const response = await host.fetch('/wp-json/mcp/v1', { method, headers });
      expect([response.status, response.headers.get('allow')]).to.deep.equal([405, 'POST']);
    }
    expect((await post({ jsonrpc: '1.0' }, headers)).status).to.equal(400);
    expect((await post(list, { ...headers, 'mcp-protocol-version': '1999-01-01' })).status).to.equal(400);
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

  it('speaks every version of the protocol that the SDK knows', async () => {
    const headers = { authorization: authorization.subscriber ?? '' };
    for (const protocolVersion of SUPPORTED_PROTOCOL_VERSIONS) {
      const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'old', version: '1' } };
      const response = await post({ jsonrpc: '2.0', id: 0, method: 'initialize', params }, headers);
      const { result } = (await response.json()) as { result: Record<string, unknown> };
      expect(result).to.include({ protocolVersion });
      expect(result['serverInfo']).to.deep.include({ version: '1.0.0' });
      const listed = await post(list, { ...headers, 'mcp-protocol-version': protocolVersion });
      expect(listed.status, protocolVersion).to.equal(200);
    }
  });
});

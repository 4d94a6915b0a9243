import { randomUUID } from 'node:crypto';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { expect } from 'chai';
import type { TestHost } from '#testing';
import { createConversationStore } from '../../plugins/svc/modules/chatbots/conversations/conversation-store.ts';
import { callTool, listAllResources, startMcpSite, type McpSite } from './mcp-site.ts';

describe('the AI service, for clients of MCP', () => {
  let site: McpSite;
  let host: TestHost;
  before(async function () {
    this.timeout(60_000);
    site = await startMcpSite();
    host = site.host;
  });
  afterEach(() => site.disconnect());
  after(() => host.stop());

  it('offers what the AI service can do', async () => {
    expect((await host.cli('svc', 'sandbox', 'on')).code).to.equal(0);
    const client = await site.connectAs('administrator');
    const values = { prompt: 'Say hello.', provider: 'openai', model: 'gpt-4o-mini' };
    const { structuredContent } = await callTool(client, 'svc_generate-text', values);
    expect(structuredContent).to.have.property('content').that.is.a('string').and.not.empty;
    const usage = await callTool(client, 'svc_usage', { by: 'module', period: 'today' });
    expect(usage).to.have.nested.property('structuredContent.groups').that.is.an('array');
    expect((await callTool(client, 'svc_list-knowledge-bases')).structuredContent).to.deep.equal({ bases: [] });
    const missing = await callTool(client, 'svc_search-knowledge', { base: 7, question: 'Why?' });
    expect(missing).to.have.nested.property('content[0].text').that.includes('rest_svc_knowledge_base_not_found');
    expect((await callTool(await site.connectAs('subscriber'), 'svc_generate-text', values)).isError).to.equal(true);
    const { prompts } = await client.listPrompts();
    const prompt = prompts.find(({ name }) => name.startsWith('template-'));
    const { messages } = await client.getPrompt({ name: prompt?.name ?? '', arguments: { topic: 'Blue tea' } });
    expect((messages[0]?.content as { text: string }).text)
      .to.include('Blue tea')
      .and.include(`for the website ${await host.site.name()}.`);
    expect((await (await site.connectAs('subscriber')).listPrompts()).prompts).to.deep.equal([]);
  });

  it('runs automations, but not paused ones and those whose source fails', async () => {
    const client = await site.connectAs('administrator');
    const createTask = async (source: object): Promise<number> => {
      const task = { name: 'Teas', type: 'content_writing', source };
      const { out, err } = await host.cli('svc', 'task', 'create', '--json', JSON.stringify(task));
      expect(err).to.equal('');
      return (JSON.parse(out) as { id: number }).id;
    };
    const id = await createTask({ kind: 'list', items: ['Blue tea', 'Green tea'] });
    const run = (values: object) => callTool(client, 'svc_run-automation', { ...values });
    expect((await run({ id })).structuredContent).to.deep.equal({ found: 2, added: 2, message: '2 new items queued.' });
    expect((await run({ id })).structuredContent).to.deep.equal({
      found: 2,
      added: 0,
      message: 'The source has no new entries.',
    });
    const listed = await callTool(client, 'svc_list-automations');
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
    const outsider = await site.connectAs('editor');
    for (const name of ['svc_run-automation', 'svc_list-automations', 'svc_search-chat-logs', 'svc_webhook-status'])
      expect(await callTool(outsider, name, name === 'svc_run-automation' ? { id } : {}), name)
        .to.have.nested.property('content[0].text')
        .that.includes('rest_ability_cannot_execute');
  });

  it('offers indexed sources of knowledge bases as resources to administrators', async () => {
    const run = async (...words: string[]): Promise<unknown> => {
      const { out, err } = await host.cli('svc', 'knowledge', ...words, '--json');
      expect(err).to.equal('');
      return JSON.parse(out) as unknown;
    };
    expect((await host.cli('svc', 'sandbox', 'on')).code).to.equal(0);
    const flags = ['--store=qdrant', '--target=help', '--provider=openai', '--model=text-embedding-3-small'];
    const { id: base } = (await run('create', 'Help', ...flags)) as { id: number };
    const post = await host.content.posts.create({ title: 'Teas', content: '<p>Green [x]</p>', status: 'publish' });
    const texts = [['--text=We ship to Oslo.', '--title=Shipping'], [`--post=${String(post.id)}`]];
    const added: number[] = [];
    for (const text of texts) added.push(((await run('add', String(base), ...text)) as { id: number }).id);
    const [shipping = 0, teas = 0] = added;
    await run('index', String(base));
    const undo = host.hooks.addFilter('svc_knowledge_text', (text) => ({
      ...text,
      text: text.text.replace('Oslo', '…'),
    }));
    const administrator = await site.connectAs('administrator');
    expect((await listAllResources(administrator)).filter(({ uri }) => uri.startsWith('knowledge://'))).to.deep.equal(
      [
        [teas, 'Teas'],
        [shipping, 'Shipping'],
      ].map(([id, name]) => ({
        uri: `knowledge://${String(base)}/${String(id)}`,
        name,
        description: 'Source of the knowledge base Help.',
        mimeType: 'text/markdown',
      })),
    );
    const read = async (client: Client, path: string) =>
      (await client.readResource({ uri: `knowledge://${path}` })).contents[0];
    expect(await read(administrator, `${base}/${shipping}`)).to.include({
      mimeType: 'text/markdown',
      text: 'We ship to ….',
    });
    expect(await read(administrator, `${base}/${teas}`))
      .to.have.property('text')
      .that.includes('Green [x]');
    undo();
    const { resourceTemplates } = await administrator.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).to.include('knowledge://{base}/{source}');
    const suggest = async (client: Client, argument: { name: string; value: string }, inBase?: number) => {
      const ref = { type: 'ref/resource', uri: 'knowledge://{base}/{source}' } as const;
      const context = { arguments: inBase === undefined ? {} : { base: String(inBase) } };
      return (await client.complete({ ref, argument, context })).completion.values;
    };
    expect(await suggest(administrator, { name: 'base', value: 'hel' })).to.deep.equal([String(base)]);
    expect(await suggest(administrator, { name: 'source', value: 'ship' }, base)).to.deep.equal([String(shipping)]);
    expect(await suggest(administrator, { name: 'source', value: '' }, base + 1)).to.deep.equal([]);
    const editor = await site.connectAs('editor');
    expect(await suggest(editor, { name: 'source', value: 'ship' })).to.deep.equal([]);
    expect((await listAllResources(editor)).filter(({ uri }) => uri.startsWith('knowledge://'))).to.deep.equal([]);
    await host.content.posts.update(post.id, { status: 'draft' });
    for (const [client, path] of [
      [editor, `${base}/${shipping}`],
      [administrator, `${base + 1}/${shipping}`],
      [administrator, `${base}/${teas}`],
      [administrator, `${base}/x`],
      [administrator, '99999999999/1'],
    ] as const)
      expect(await read(client, path).catch((error: unknown) => error), path).to.have.property('code', -32_602);
  });

  it('reports the status of the webhooks as the command does', async () => {
    const { structuredContent } = await callTool(await site.connectAs('administrator'), 'svc_webhook-status');
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
      (await callTool(client, 'svc_search-chat-logs', { ...values })).structuredContent as unknown as Found;
    const administrator = await site.connectAs('administrator');
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
    const withKey = (...flags: string[]) =>
      site.createKey(...flags).then((key) => site.connect({ authorization: key }));
    const limited = await withKey('--routes=mcp,logs', `--chatbots=${String(help)}`);
    expect(await search(limited, { bot_id: help })).to.include({ total: 1 });
    for (const [client, values] of [
      [limited, { bot_id: shop }],
      [limited, {}],
      [await withKey('--routes=mcp'), {}],
    ] as const)
      expect(await callTool(client, 'svc_search-chat-logs', values))
        .to.have.nested.property('content[0].text')
        .that.includes('rest_svc_key_out_of_scope');
  });
});

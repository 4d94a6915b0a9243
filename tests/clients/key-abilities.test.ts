import { expect } from 'chai';
import { isRecord, type Ability, type JsonSchema, type McpResourceSource, type User } from '#plugin-api';
import type { TestHost } from '#testing';
import { callTool, listAllResources, startMcpSite, type McpSite } from './mcp-site.ts';

/** In everything that only the creator of the key, an administrator, may read. */
const canary = 'canary-of-the-creator';

describe('what a named key reads of its creator', () => {
  let site: McpSite;
  let host: TestHost;
  let ids: number[];
  before(async function () {
    this.timeout(60_000);
    site = await startMcpSite();
    host = site.host;
    ids = await addCanaries(host);
  });
  afterEach(() => site.disconnect());
  after(() => host.stop());

  it('every ability says whether it reads and whether it destroys', async () => {
    for (const { name, meta } of await host.abilities.list())
      expect([typeof meta.annotations.readonly, typeof meta.annotations.destructive], name).to.deep.equal([
        'boolean',
        'boolean',
      ]);
  });

  it('every read-only ability shows a key that does not name it what it shows everyone', async () => {
    const authorization = await site.createKey('--routes=mcp,abilities,generate,openai,chat,events');
    const all = await site.createKey('--routes=abilities,logs', '--abilities=*');
    const readers = (await host.abilities.list()).filter(({ meta }) => meta.annotations.readonly === true);
    expect(readers).to.have.length.above(8);
    let shown = '';
    for (const ability of readers)
      for (const input of inputsOf(ability, ids)) {
        const [visitor, key] = [await run(ability, input), await run(ability, input, authorization)];
        const place = `${ability.name} ${JSON.stringify(input)}`;
        expect(key.status, place).to.equal(visitor.status === 401 ? 403 : visitor.status);
        expect(key.text, place).to.not.include(canary);
        if (visitor.status < 400) expect(key.text, place).to.equal(visitor.text);
        shown += (await run(ability, input, all)).text;
      }
    // The inputs reach what only the creator may read: a draft, a private post, their own name, the settings.
    for (const one of ['draft', 'private', 'me', 'site']) expect(shown).to.include(`${canary}-${one}`);
  });

  it('tells the key which ability to name', async () => {
    const client = await site.connect({ authorization: await site.createKey('--routes=mcp') });
    const refused = await callTool(client, 'core_get-user-info');
    expect(refused).to.have.nested.property('content[0].text').that.includes('may not run the ability core/get-user');
    for (const flag of ['--abilities=core/get-user-info', '--abilities=core/get-*']) {
      const named = await site.connect({ authorization: await site.createKey('--routes=mcp', flag) });
      const { structuredContent } = await callTool(named, 'core_get-user-info');
      expect(structuredContent).to.include({ user_login: 'administrator' });
    }
  });

  it('a pattern names no destructive ability', async () => {
    const client = await site.connect({ authorization: await site.createKey('--routes=mcp', '--abilities=*,host/*') });
    const refused = await callTool(client, 'host_trash-post', { id: ids[0] });
    expect(refused).to.have.nested.property('content[0].text').that.includes('ability_not_in_scope');
  });

  it('reads resources and prompts as a visitor until its scope names them', async () => {
    const reader = await site.connect({ authorization: await site.createKey('--routes=mcp') });
    const named = await site.connect({
      authorization: await site.createKey('--routes=mcp', '--abilities=host/read-post,svc/search-knowledge'),
    });
    const all = await site.connect({ authorization: await site.createKey('--routes=mcp', '--abilities=*') });
    const undo = host.hooks.addFilter('mcp_resources', (sources) => [
      ...sources,
      mine('named', 'svc/search-knowledge'),
      mine('unnamed'),
    ]);
    expect(JSON.stringify(await listAllResources(reader))).to.not.include(canary);
    expect(JSON.stringify(await listAllResources(named)))
      .to.include(`${canary}-of-named`)
      .and.not.include(`${canary}-of-unnamed`);
    expect(JSON.stringify(await listAllResources(all))).to.include(`${canary}-of-unnamed`);
    for (const uri of [...ids.map((id) => `wp://posts/${String(id)}`), 'named://1']) {
      const refused = await reader.readResource({ uri }).catch((error: unknown) => error);
      expect(refused, uri).to.have.property('code', -32_602);
      expect(JSON.stringify(await named.readResource({ uri })), uri).to.include(canary);
    }
    undo();
    expect((await reader.listPrompts()).prompts).to.deep.equal([]);
    expect((await named.listPrompts()).prompts).to.deep.equal([]);
    expect((await all.listPrompts()).prompts).to.not.deep.equal([]);
  });

  it('opens no route of wp/v2', async () => {
    const authorization = await site.createKey('--routes=mcp,abilities', '--abilities=*');
    for (const path of [
      'posts?status=draft',
      `posts/${String(ids[0])}`,
      'users/me',
      'settings',
      'users?context=edit',
    ]) {
      const [visitor, key] = await Promise.all(
        [{}, { authorization }].map(async (headers) => {
          const response = await host.fetch(`/wp-json/wp/v2/${path}`, { headers });
          return [response.status, await response.text()] as const;
        }),
      );
      expect(key, path).to.deep.equal(visitor);
    }
  });

  async function run({ name }: Ability, input: Record<string, unknown>, authorization?: string) {
    const query = new URLSearchParams(
      Object.entries(input).map(([key, value]) => [`input[${key}]`, String(value)] as [string, string]),
    );
    const response = await host.fetch(`/wp-json/wp-abilities/v1/abilities/${name}/run?${query.toString()}`, {
      headers: authorization === undefined ? {} : { authorization },
    });
    return { status: response.status, text: await response.text() };
  }
});

/** A kind of resources for administrators. */
function mine(name: string, ability?: string): McpResourceSource {
  const isMine = (user: User): boolean => user.can('manage_options');
  return {
    ...{ prefix: `${name}://`, uriTemplate: `${name}://{id}`, name, description: name, ...(ability && { ability }) },
    list: ({ user }) => Promise.resolve(isMine(user) ? [{ uri: `${name}://1`, name: `${canary}-of-${name}` }] : []),
    read: (_uri, user) => Promise.resolve(isMine(user) ? { text: canary } : null),
  };
}

/** @returns the ids of a draft and a private post */
async function addCanaries(host: TestHost): Promise<number[]> {
  const posts = await Promise.all(
    (['draft', 'private'] as const).map((status) =>
      host.content.posts.create({ title: `${canary}-${status}`, content: 'Text', status, authorId: 1 }),
    ),
  );
  await host.users.update(1, { displayName: `${canary}-me` });
  await host.options.update('account_contact', `${canary}-site`);
  return posts.map(({ id }) => id);
}

/** Inputs with each value of each choice, and the ids of what is hidden. */
function inputsOf({ inputSchema }: Ability, ids: readonly number[]): Record<string, unknown>[] {
  const properties = Object.entries((inputSchema?.properties ?? {}) as Record<string, JsonSchema>);
  const required = (inputSchema?.required ?? []) as readonly string[];
  const valuesOf = (schema: JsonSchema): unknown[] => {
    if (schema.enum !== undefined) return [...schema.enum];
    if (schema.type === 'integer') return [...ids, 1];
    return schema.type === 'string' ? ['canary'] : [];
  };
  const needed = Object.fromEntries(
    properties.filter(([name]) => required.includes(name)).map(([name, schema]) => [name, valuesOf(schema)[0]]),
  );
  const each = properties.flatMap(([name, schema]) => valuesOf(schema).map((value) => ({ ...needed, [name]: value })));
  return [needed, ...each].filter((input) => isRecord(input));
}

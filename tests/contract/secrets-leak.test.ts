import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createFakeClock, type TestHost } from '#testing';
import { moods, startEchoingUpstream, type EchoingUpstream } from './echoing-upstream.ts';
import { createMigratedHost } from '../helpers/migrated.ts';

const providers = ['openai', 'azure', 'google', 'openrouter', 'claude', 'deepseek', 'xai', 'ollama'] as const;
const stores = ['pinecone', 'qdrant', 'chroma'] as const;

/** Unlike each other and anything else, with characters that are written otherwise in addresses, JSON and base64. */
const secretOf = (name: string): string => `sk-${name}-9f/Xq+7w=Zk3&LEAK-${name.split('').reverse().join('')}-4Bd`;
const restKey = secretOf('restkey');
const password = secretOf('password');
const secrets = new Map([
  ...[...providers, ...stores].map((name) => [name, secretOf(name)] as const),
  ['restkey', restKey],
  ['password', password],
]);

/** Every way in which a secret may be written down. */
function spellings(secret: string): string[] {
  return [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret)
      .toString('base64')
      .replace(/={1,2}$/, ''),
    Buffer.from(secret).toString('hex'),
  ];
}

function leaks(where: string, text: string): string[] {
  return [...secrets]
    .filter(([, secret]) => spellings(secret).some((spelling) => text.includes(spelling)))
    .map(([name]) => `${name} in ${where}`);
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

interface Site {
  readonly host: TestHost;
  readonly upstream: EchoingUpstream;
  readonly folder: string;
  /** All that callers, browsers and command lines were told, by what told it. */
  readonly told: (readonly [string, string])[];
}

async function openSite(): Promise<Site> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-secrets-'));
  const upstream = await startEchoingUpstream();
  const host = await createMigratedHost({
    plugins: ['svc', 'sandbox'],
    database: folder,
    clock: createFakeClock({ skipSleeps: true }),
  });
  return { host, upstream, folder, told: [] };
}

async function cli({ host, told }: Site, ...argv: string[]): Promise<void> {
  const { out, err } = await host.cli(...argv);
  told.push([`the command ${argv.slice(0, 4).join(' ')}`, `${out}${err}`]);
}

async function saveSecrets(site: Site): Promise<void> {
  const { host, upstream } = site;
  await cli(site, 'svc', 'key', 'set', restKey);
  for (const id of providers) {
    await cli(
      site,
      'svc',
      'provider',
      'set',
      id,
      `--api-key=${secretOf(id)}`,
      `--base-url=${upstream.url}`,
      ...(id === 'azure' ? ['--model=a-deployment'] : []),
    );
  }
  for (const id of stores)
    await host.options.update(`svc_vector_store_${id}`, {
      url: upstream.url,
      api_key: host.secrets.encrypt(secretOf(id)),
    });
}

async function call(site: Site, path: string, body: unknown): Promise<void> {
  const response = await site.host.fetch(`/wp-json/svc/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${restKey}` },
    body: JSON.stringify(body),
  });
  site.told.push([
    `the answer of ${path} (${response.status})`,
    `${JSON.stringify([...response.headers])}${await response.text()}`,
  ]);
}

/** Every kind of call through every provider and store. */
async function callEverything(site: Site): Promise<void> {
  for (const provider of providers) {
    await call(site, '/generate', { provider, model: 'a-model', messages: [{ role: 'user', content: 'Hello' }] });
    await call(site, '/images/generate', {
      provider,
      model: 'gpt-image-2',
      prompt: 'A duck',
      response_format: 'b64_json',
    });
    await call(site, '/embeddings', { provider, model: 'an-embedding', input: 'A duck' });
    await cli(site, 'svc', 'provider', 'test', provider);
    await cli(site, 'svc', 'provider', 'models', provider, '--sync');
  }
  for (const provider of stores) {
    await call(site, '/vector-stores/upsert', {
      provider,
      target_id: 'ducks',
      embedding_provider: 'openai',
      embedding_model: 'an-embedding',
      vectors: [{ content: 'A duck' }],
    });
  }
}

/** The pages of the service, and a test of a provider from there, in the browser of an administrator. */
async function lookAtPages({ host, told }: Site): Promise<void> {
  await host.users.create({ login: 'ada', email: 'ada@example.com', password, role: 'administrator' });
  const form = (fields: Record<string, string>) => ({
    method: 'POST',
    redirect: 'manual' as const,
    body: new URLSearchParams(fields),
  });
  const signedIn = await host.fetch('/admin/login', form({ login: 'ada', password }));
  const cookie = signedIn.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
  const page = async (path: string): Promise<string> =>
    (await host.fetch(`/admin/${path}`, { headers: { cookie } })).text();
  const settings = await page('svc');
  expect(settings).to.contain('test-provider');
  const nonce = /name="_nonce" value="([^"]+)"/.exec(settings)?.[1] ?? '';
  for (const provider of providers) {
    const tested = await host.fetch('/admin/svc?action=test-provider', {
      ...form({ _nonce: nonce, provider, 'settings[api_key]': '' }),
      headers: { cookie },
    });
    told.push([`the test of ${provider} on the page`, await tested.text()]);
  }
  for (const path of [
    '',
    'svc',
    'svc/usage',
    'svc/prices',
    'svc/setup?provider=openai',
    'sandbox',
    'tools/hooks',
    'rest',
  ])
    told.push([`the page ${path}`, await page(path)]);
}

describe('secrets', () => {
  it('are sent to their upstreams and show up nowhere else: logs, answers, pages, commands, database, metrics, files', async function () {
    this.timeout(120_000);
    const site = await openSite();
    const { host, upstream, folder, told } = site;
    try {
      await saveSecrets(site);
      for (const mood of moods) {
        upstream.mood = mood;
        await callEverything(site);
      }
      upstream.mood = 'refuses';
      await lookAtPages(site);
      await cli(site, 'svc', 'sandbox', 'on');
      await callEverything(site);
      await cli(site, 'svc', 'provider', 'list');
      await cli(site, 'svc', 'usage', '--by=outcome');
      told.push(
        ['the metrics', await (await host.fetch('/metrics')).text()],
        ['the description of the routes', await (await host.fetch('/wp-json/svc/v1/openapi.json')).text()],
      );
      told.push(['the log', host.logged.join('\n')]);

      // Without this the rest would prove nothing.
      const heard = upstream.heard.join('\n');
      const unheard = [...providers, ...stores].filter(
        (name) => !heard.includes(JSON.stringify(secretOf(name)).slice(1, -1)) && !heard.includes(secretOf(name)),
      );
      expect(unheard, 'upstreams that never got their key').to.deep.equal([]);

      const tables = (
        (await host.database.knex('sqlite_master').where('type', 'table').select('name')) as { name: string }[]
      ).map(({ name }) => name);
      expect(tables).to.include.members(['svc_usage', 'svc_usage_days', 'options']);
      for (const name of tables)
        told.push([`the table ${name}`, JSON.stringify(await host.database.knex(name).select('*'))]);
      expect(
        Number(((await host.database.knex('svc_usage').count({ calls: '*' })) as { calls: number }[])[0]?.calls),
      ).to.be.greaterThan(50);
      await host.stop();

      const files = await filesBelow(folder);
      expect(files.some((file) => file.endsWith('.sqlite'))).to.equal(true);
      for (const file of files)
        told.push([`the file ${file.slice(folder.length)}`, (await readFile(file)).toString('latin1')]);
      expect(leaks('a text', `key=${encodeURIComponent(secretOf('xai'))}`)).to.deep.equal(['xai in a text']);
      expect([...new Set(told.flatMap(([where, text]) => leaks(where, text)))]).to.deep.equal([]);
    } finally {
      await host.stop();
      await upstream.stop();
      await rm(folder, { recursive: true, force: true });
    }
  });
});

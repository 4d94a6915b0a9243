import { Anthropic } from '@anthropic-ai/sdk';
import { expect } from 'chai';
import { OpenAI } from 'openai';
import { createClientCache, reuseRequests } from '../../../plugins/svc/kit/caches.ts';

interface Sent {
  readonly url: string;
  readonly method: string | undefined;
  readonly headers: Record<string, string>;
  readonly body: unknown;
}

describe('Clients of the SDKs', () => {
  let sent: Sent[];
  const fetch: typeof globalThis.fetch = (input, init) => {
    const method = init?.method?.toUpperCase();
    sent.push({
      url: String(input),
      method,
      headers: Object.fromEntries(new Headers(init?.headers)),
      body: init?.body,
    });
    return Promise.resolve(Response.json({ data: [] }));
  };
  const options = { fetch, maxRetries: 0, logLevel: 'off' } as const;
  const openai = (): OpenAI => new OpenAI({ ...options, apiKey: 'key', baseURL: 'https://one.example/v1' });
  const claude = (): Anthropic => new Anthropic({ ...options, apiKey: 'key', baseURL: 'https://two.example' });
  const message = { role: 'user', content: 'Hello.' } as const;

  beforeEach(() => {
    sent = [];
  });

  it('send with reused headers and URLs what they send without', async () => {
    const calls: ((client: OpenAI) => Promise<unknown>)[] = [
      (client) => client.chat.completions.create({ model: 'm', messages: [message] }, { timeout: 61_000 }),
      (client) => client.chat.completions.create({ model: 'm', messages: [message] }, { timeout: 61_900 }),
      (client) => client.chat.completions.create({ model: 'm', messages: [message] }, { timeout: 5_000 }),
      (client) => client.models.list().then(),
      (client) => client.get('/models', { query: { limit: 2 } }),
      (client) => client.post('/embeddings', { body: { input: 'a' }, headers: { 'x-own': '1' } }),
      (client) => client.post('/embeddings', { body: { input: 'a' } }),
      (client) => client.post('/files', { body: new TextEncoder().encode('bytes') }),
      (client) => client.post('/files', { body: ['a list'] }),
      (client) => client.post('/files', { body: null }),
      (client) => client.get('https://three.example/absolute'),
      (client) => client.get('/models', { signal: new AbortController().signal }),
      (client) => client.patch('/models', { body: { a: 1 }, signal: new AbortController().signal }),
    ];
    const reused = reuseRequests(openai(), fetch);
    for (const call of [...calls, ...calls]) await call(reused);
    const withReuse = sent.splice(0);
    for (const call of [...calls, ...calls]) await call(openai());
    expect(withReuse).to.deep.equal(sent);
    expect(sent[0]?.headers).to.include({ authorization: 'Bearer key', 'x-stainless-timeout': '61' });
    expect(sent[2]?.headers).to.include({ 'x-stainless-timeout': '5' });
    expect(sent[5]?.headers).to.include({ 'x-own': '1' });
    expect(sent.map(({ url }) => url)).to.include('https://three.example/absolute');
  });

  it('do so with the Anthropic package, too', async () => {
    const call = (client: Anthropic, timeout: number): Promise<unknown> =>
      client.messages.create({ model: 'm', max_tokens: 5, messages: [message] }, { timeout });
    const reused = reuseRequests(claude(), fetch);
    for (const timeout of [61_000, 61_000, 5_000]) await call(reused, timeout);
    const withReuse = sent.splice(0);
    for (const timeout of [61_000, 61_000, 5_000]) await call(claude(), timeout);
    expect(withReuse).to.deep.equal(sent);
    expect(sent[0]?.headers).to.include({ 'x-stainless-timeout': '61' }).and.to.have.property('anthropic-version');
  });

  it('end with the signal of a call', async () => {
    for (const client of [openai(), claude()]) {
      const controller = new AbortController();
      const never: typeof globalThis.fetch = (_input, init) =>
        new Promise((_resolve, reject) => {
          init?.signal?.addEventListener('abort', () => {
            reject(init.signal?.reason as Error);
          });
          controller.abort();
        });
      const call = reuseRequests(client, never).get('/v1/models', { signal: controller.signal });
      const error = await call.then(
        () => null,
        (thrown: unknown) => thrown,
      );
      expect(error).to.be.instanceOf(client instanceof OpenAI ? OpenAI.APIUserAbortError : Anthropic.APIUserAbortError);
    }
  });

  it('build headers again after they could not be built', async () => {
    const client = openai();
    let builds = 0;
    Object.assign(client, {
      buildHeaders: () => {
        builds += 1;
        return builds === 1
          ? Promise.reject(new Error('no headers'))
          : Promise.resolve(new Headers({ 'x-built': '2' }));
      },
    });
    const reused = reuseRequests(client, fetch);
    const outcomes: string[] = [];
    for (let call = 0; call < 3; call += 1)
      await reused.models.list().then(
        () => outcomes.push('listed'),
        (error: unknown) => outcomes.push((error as Error).message),
      );
    expect(outcomes).to.deep.equal(['no headers', 'listed', 'listed']);
    expect(builds).to.equal(2);
    expect(sent.map(({ headers }) => headers['x-built'])).to.deep.equal(['2', '2']);
  });

  it('are built once per connection, and the least recently used one is removed first', async () => {
    const cache = createClientCache<string>(2);
    const built: string[] = [];
    const get = (name: string): Promise<string> =>
      cache.get(fetch, [name], () => {
        built.push(name);
        return Promise.resolve(name);
      });
    for (const name of ['a', 'b', 'a', 'c', 'a', 'b']) expect(await get(name)).to.equal(name);
    expect(built).to.deep.equal(['a', 'b', 'c', 'b']);
  });
});

import { expect } from 'chai';
import { describeSharedHosts, sharedSite } from '../helpers/dialects.ts';
import { shareSite } from '../helpers/share-site.ts';
import { signIn } from '../helpers/sign-in.ts';
import { goodRequest, startService } from './service.ts';

describeSharedHosts('what named keys reach (D31)', ({ location }) => {
  const site = shareSite(
    () => startService(sharedSite(location())),
    ({ stop }) => stop(),
  );
  const cli = (...argv: string[]) => site().host.cli('svc', ...argv, '--json');
  async function run<Printed>(...argv: string[]): Promise<Printed> {
    const { code, out, err } = await cli(...argv);
    expect(code, err).to.equal(0);
    return JSON.parse(out) as Printed;
  }
  const createKey = (...flags: string[]) =>
    run<{ readonly id: number; readonly key: string }>('key', 'create', '--name=Shop', ...flags);
  async function bot(name: string): Promise<string> {
    const settings = JSON.stringify({ name, provider: 'openai', model: 'gpt-4o-mini' });
    const { out } = await site().host.cli('svc', 'bot', 'create', '--json', settings);
    return String((JSON.parse(out) as { readonly id: number }).id);
  }

  async function send(key: string, path: string, body?: object) {
    const response = await site().host.fetch(`/wp-json/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }
  const { messages } = goodRequest;
  const complete = (key: string, model: string) => send(key, 'svc-openai/v1/chat/completions', { model, messages });
  const statuses = async (key: string, models: readonly string[]): Promise<number[]> => {
    const found: number[] = [];
    for (const model of models) found.push((await complete(key, model)).status);
    return found;
  };

  it('is its chatbots alone, through every route, unless it has models too', async () => {
    const [shop, other] = [await bot('Shop'), await bot('Other')];
    const routes = '--routes=openai,generate,embeddings,images,chat';
    const { id, key } = await createKey(routes, `--chatbots=${shop}`);
    const models = [`bot:${shop}`, `bot:${other}`, 'openai/gpt-4o-mini', 'gpt-4o-mini'];
    expect(await statuses(key, models)).to.deep.equal([200, 403, 403, 403]);
    const { data } = (await send(key, 'svc-openai/v1/models')).body as { data: readonly { id: string }[] };
    expect(data.map((model) => model.id)).to.deep.equal([`bot:${shop}`]);
    const embeddings = { provider: 'openai', model: 'e', input: 'a' };
    for (const [path, body] of Object.entries({
      generate: goodRequest,
      embeddings,
      'images/generate': { prompt: 'A cat' },
    }))
      expect((await send(key, `svc/v1/${path}`, body)).body, path).to.deep.include({
        code: 'rest_svc_key_out_of_scope',
      });
    expect((await send(key, `svc/v1/chat/${shop}/message`, { messages })).status).to.equal(200);
    await run('key', 'update', String(id), '--models=gpt-4o*');
    expect(await statuses(key, models)).to.deep.equal([200, 403, 200, 200]);
    expect((await send(key, 'svc/v1/generate', goodRequest)).status).to.equal(200);
  });

  it('is no other provider, whether that one is configured or not', async () => {
    const { key } = await createKey('--routes=openai,generate,embeddings,images', '--providers=deepseek');
    const answers: unknown[] = [];
    for (const provider of ['openai', 'claude', 'xai', 'google']) {
      const { status, body } = await send(key, 'svc/v1/generate', { ...goodRequest, provider });
      expect(body['message']).to.equal(
        `The key “Shop” does not allow the provider ${provider}. Add it to its providers in the admin under API keys.`,
      );
      answers.push([status, body['code'], body['data']]);
      expect(await statuses(key, [`${provider}/m`])).to.deep.equal([403]);
    }
    expect(answers).to.deep.equal(
      ['openai', 'claude', 'xai', 'google'].map((needs) => [
        403,
        'rest_svc_key_out_of_scope',
        { status: 403, scope: 'providers', needs },
      ]),
    );
    expect((await send(key, 'svc/v1/images/generate', { prompt: 'A cat' })).status).to.equal(403);
    expect((await send(key, 'svc/v1/embeddings', { provider: 'google', model: 'e', input: 'a' })).status).to.equal(403);
    // Openai is the default of the site, and not of this key.
    expect((await complete(key, 'gpt-4o-mini')).status).to.equal(404);
    expect((await complete((await createKey('--routes=openai', '--providers=openai')).key, 'm')).status).to.equal(200);
  });

  it('is refused where it does not exist, with what does', async () => {
    const shop = await bot('Shop');
    const refused = {
      '--providers=opnai': /No provider has the id opnai\. The providers are: openai, azure, .*claude/,
      '--chatbots=99': new RegExp(`No chatbot has the id 99\\. The chatbots are: ${shop} \\(Shop\\)\\.`),
      '--abilities=host/trash-pots': /No ability has the name host\/trash-pots\. The abilities are: .*host\//,
      '--expires=2025-12-31': /Last day is over\. Enter 2026-01-01 or a later day\./,
    };
    for (const [flag, sentence] of Object.entries(refused)) {
      const { code, err } = await cli('key', 'create', '--name=Shop', '--routes=openai', flag);
      expect([code, err], flag).to.satisfy(([status, text]: [number, string]) => status !== 0 && sentence.test(text));
    }
    // Models are checked where their provider has listed what it has.
    const { id } = await createKey('--routes=openai', '--providers=openai', '--models=gpt-9');
    site().upstream.answer({ body: { object: 'list', data: [{ id: 'gpt-5', object: 'model' }] } });
    await run('provider', 'test', 'openai');
    const { code, err } = await cli('key', 'create', '--name=Shop', '--routes=openai', '--models=gpt-5*,gpt-9');
    expect(code).to.not.equal(0);
    expect(err).to.match(/No provider lists the model gpt-9\. .* The models are: gpt-5\b/);
    await createKey('--routes=openai', '--models=gpt-5*');
    // What a key has already stays, whatever has become of it.
    await run('bot', 'delete', shop);
    await run('key', 'update', String(id), '--name=Renamed');
    const admin = await signIn(site().host);
    const form = {
      id: '',
      name: 'Form',
      'routes[]': 'openai',
      'providers[]': 'openai',
      abilities: 'a/b',
      expires: '2025-01-01',
    };
    const { text } = await admin.post('svc/keys', 'save', form);
    expect(text).to.contain('No ability has the name a/b.').and.contain('Last day is over. Enter 2026-01-01');
  });

  it('keeps the last day of a key that has expired, and takes no other one that is over', async () => {
    const { id } = await createKey('--routes=openai', '--expires=2026-01-01');
    site().clock.jump(48 * 3600_000);
    await run('key', 'update', String(id), '--name=Renamed');
    const { code } = await cli('key', 'update', String(id), '--expires=2026-01-02');
    expect(code).to.not.equal(0);
  });
});

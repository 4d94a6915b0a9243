import { expect } from 'chai';
import { createApplicationPasswords } from '../../host/users/application-passwords.ts';
import type { Explanation } from '../../plugins/svc/kit/dry-run.ts';
import { signIn } from '../helpers/sign-in.ts';
import { goodRequest, restKey, startService, type Service } from './service.ts';
import { type Flags, text, cases } from './dry-run-cases.ts';

describe('dry runs of requests and keys', () => {
  let service: Service;
  const authorization: Record<string, string> = {};
  before(async () => {
    service = await startService();
    const passwords = createApplicationPasswords(service.host);
    for (const role of ['administrator', 'editor'] as const) {
      const email = `${role}@example.com`;
      const user = await service.host.users.create({ login: role, email, password: 'correct horse battery', role });
      const { password } = await passwords.create(user.id, 'Tests');
      authorization[role] = `Basic ${Buffer.from(`${role}:${password}`).toString('base64')}`;
    }
  });
  after(() => service.stop());

  async function run<Printed>(...argv: string[]): Promise<Printed> {
    const { code, out, err } = await service.host.cli(...argv, '--json');
    expect(code, err).to.equal(0);
    return JSON.parse(out) as Printed;
  }
  const written = (flags: Flags): string[] =>
    Object.entries(flags).map(([name, value]) => `--${name}=${String(value)}`);
  const createKey = (flags: Flags): Promise<{ readonly id: number; readonly key: string }> =>
    run('svc', 'key', 'create', ...written({ name: 'Tested', routes: 'generate', ...flags }));

  /** Everything that a call would leave behind. */
  async function traces(): Promise<unknown> {
    const { knex } = service.host.database;
    const tables = [
      'svc_usage',
      'svc_usage_days',
      'svc_usage_role_days',
      'svc_budget_reservations',
      'svc_rate_windows',
      'svc_key_windows',
    ];
    const rows = await Promise.all(
      [...tables, 'svc_budget_counters'].map(async (table) => (await knex(table).select('*')) as unknown[]),
    );
    const used = (await knex('svc_keys').orderBy('id').select('last_used_at')) as unknown[];
    return [rows, used, service.upstream.requests.length];
  }

  for (const [name, { key = {}, flags = {}, budget, given, rule, code }] of Object.entries(cases))
    it(`name the deciding rule ${rule}: ${name}`, async () => {
      const created = typeof key === 'string' ? null : await createKey(key);
      if (budget !== undefined) {
        const values = { id: 'tested', name: 'Tested', unit: 'calls', amount: 1, key_id: created?.id, ...budget };
        await run('svc', 'budget', 'set', JSON.stringify(values));
        // One call of everything that a budget may count.
        const counts = { calls: 1, billed: 1, input_tokens: 1, output_tokens: 1, cost: 1 };
        const used = { day: '2026-01-01', outcome: 'ok', ...counts };
        if (budget['amount'] === undefined) {
          await service.host.database.knex('svc_usage_days').insert({
            ...{ ...used, module: 'rest', bot_id: 0, kind: 'text', provider: 'openai', model: 'gpt-4o-mini' },
            ...{
              sandbox: 0,
              key_id: created?.id ?? 0,
              user_id: 1,
              plugin: 'shop',
              images: 0,
              unpriced: 0,
              duration: 1,
            },
          });
          await service.host.database.knex('svc_usage_role_days').insert({ ...used, role: 'administrator' });
        }
      }
      const undo = await given?.(service, { id: created?.id ?? 0 });
      try {
        const before = await traces();
        const named = created === null ? String(key) : String(created.id);
        const explanation = await run<Explanation>('svc', 'key', 'explain', named, ...written(flags));
        const { allowed, error, message } = explanation;
        const isAllowed = ['key_rest', 'key_named', 'failover', 'budget_fallback', 'sandbox'].includes(rule);
        expect([explanation.rule, allowed], message).to.deep.equal([rule, isAllowed]);
        if (code !== undefined) expect(error?.code).to.equal(code);
        expect(await traces()).to.deep.equal(before);
      } finally {
        await undo?.();
        if (budget !== undefined) {
          await run('svc', 'budget', 'delete', 'tested');
          for (const days of ['svc_usage_days', 'svc_usage_role_days']) await service.host.database.knex(days).delete();
        }
      }
    });

  it('name a replaced secret', async () => {
    const { id, key } = await createKey({});
    await run('svc', 'key', 'rotate', String(id), '--hours=1');
    const ruleOf = async (): Promise<string> =>
      (await run<Explanation>('svc', 'key', 'explain', key, ...written(text))).rule;
    expect(await ruleOf()).to.equal('key_named');
    await service.clock.advance(3600_000);
    expect(await ruleOf()).to.equal('key_replaced');
  });

  it('say over HTTP what would be called at what cost, for an administrator', async () => {
    const { key, id } = await createKey({});
    const before = await traces();
    const basic = { authorization: authorization['administrator'] ?? '' };
    const body = { ...goodRequest, ai_params: { max_completion_tokens: 1000 } };
    const answer = await service.generate({ ...body, svc_api_key: key }, basic, '?dry_run=1');
    expect(answer.status).to.equal(200);
    expect(answer.body).to.deep.include({ dry_run: true, allowed: true, rule: 'key_named', error: null });
    expect(answer.body.key).to.deep.equal({ id, name: 'Tested' });
    const [{ cost_usd, input_tokens, ...call }] = answer.body.calls;
    expect(call).to.deep.equal({
      ...{ kind: 'text', provider: 'openai', model: 'gpt-4o-mini', output_tokens: 1000, images: 0, budgets: [] },
    });
    expect(input_tokens).to.be.within(5, 20);
    // $0.15 and $0.60 per million tokens.
    expect(cost_usd).to.be.closeTo((input_tokens * 0.15 + 600) / 1_000_000, 0.000001);
    expect((await service.generate(body, basic, `?dry_run=1&dry_run_key=${id}`)).body.key).to.include({ id });
    await run(
      'svc',
      'budget',
      'set',
      '{"id": "tested", "name": "Tested", "scope": "role", "role": "editor", "amount": 1e-6}',
    );
    const editor = (await service.host.users.find('editor'))?.id ?? 0;
    const ofUser = (user: string) => service.generate(body, basic, `?dry_run=1&dry_run_user=${user}`);
    expect((await ofUser(String(editor))).body.rule).to.equal('budget_role');
    expect([(await ofUser('x')).status, (await ofUser('999')).body.code]).to.deep.equal([400, 'rest_invalid_param']);
    await run('svc', 'budget', 'delete', 'tested');
    expect((await service.generate(body, basic, '?dry_run=true')).body.rule).to.equal('key_rest');
    const refused = await service.generate({ ...body, svc_api_key: 'wrong' }, basic, '?dry_run=1');
    expect([refused.status, refused.body.allowed, refused.body.rule]).to.deep.equal([200, false, 'key_unknown']);
    expect(refused.body.error).to.include({ code: 'rest_svc_invalid_api_key', status: 401 });
    expect(await traces()).to.deep.equal(before);
  });

  it('are refused to others, and by routes that have none, before anything is called', async () => {
    const before = await traces();
    const bearer = { authorization: `Bearer ${restKey}` };
    const editor = { authorization: authorization['editor'] ?? '' };
    for (const headers of [{}, bearer, editor]) {
      const { status, body } = await service.generate({ ...goodRequest, svc_api_key: restKey }, headers, '?dry_run=1');
      expect([status, body.code]).to.deep.equal([403, 'rest_svc_dry_run_refused']);
    }
    const upsert = await service.host.fetch('/wp-json/svc/v1/vector-stores/upsert?dry_run=1', {
      method: 'POST',
      headers: { authorization: authorization['administrator'] ?? '', 'content-type': 'application/json' },
      body: '{}',
    });
    const { code } = (await upsert.json()) as { readonly code: string };
    expect([upsert.status, code]).to.deep.equal([400, 'rest_svc_dry_run_not_offered']);
    expect(await traces()).to.deep.equal(before);
    expect((await service.generate(goodRequest, bearer, '?dry_run=0')).body.content).to.equal('Hello there.');
  });

  it('include the search of a chatbot that answers from knowledge, and run no actions', async () => {
    const settings = {
      ...{ name: 'Helper', instructions: 'Help.', provider: 'openai', model: 'gpt-4o-mini' },
      knowledge: {
        ...{ enabled: true, store: 'qdrant', target: 'docs', embedding_provider: 'openai' },
        embedding_model: 'text-embedding-3-small',
      },
    };
    service.host.hooks.addFilter(
      'svc_vector_store_settings',
      (saved: Readonly<Record<string, unknown>>, store: string) =>
        store === 'qdrant' ? { ...saved, url: 'http://127.0.0.1:9' } : saved,
    );
    const created = await service.host.cli('svc', 'bot', 'create', '--json', JSON.stringify(settings));
    expect(created.err).to.equal('');
    const { id: bot } = JSON.parse(created.out) as { readonly id: number };
    const failures: unknown[] = [];
    const undo = service.host.hooks.addAction(
      'svc_chatbot_reply_failed',
      (error: unknown) => void failures.push(error),
    );
    const { id } = await createKey({ routes: 'chat' });
    const before = await traces();
    const explained = await run<Explanation>(
      ...['svc', 'key', 'explain', String(id)],
      ...written({ route: 'chat', bot }),
    );
    undo();
    expect(explained.rule, explained.message).to.equal('key_named');
    expect(explained.calls.map(({ kind }) => kind)).to.deep.equal(['embedding', 'text']);
    expect([failures, await traces()]).to.deep.equal([[], before]);
  });

  it('are offered on the page of the keys', async () => {
    const admin = await signIn(service.host);
    const { id } = await createKey({ name: 'On the page', models: 'gpt-4o*' });
    const shown = async (query: string): Promise<string> => admin.get(`svc/keys?test=${String(id)}${query}`);
    expect(await shown(''))
      .to.contain('Test what this key may do')
      .and.not.contain('Rule:');
    const allowed = await shown('&route=generate&provider=openai&model=gpt-4o-mini&bot=');
    expect(allowed).to.contain('Allowed').and.contain('key_named').and.contain('openai / gpt-4o-mini');
    const refused = await shown('&route=generate&provider=openai&model=%3Cgpt%3E&bot=');
    expect(refused).to.contain('Refused').and.contain('scope_models').and.not.contain('<gpt>');
  });
});

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createFakeClock, createTestHost, type TestHost } from '#testing';
import { createSecurityLog, migrations } from '../../host/security-log/security-log.ts';
import { describeDialects } from '../helpers/dialects.ts';
import { silentLog } from '../helpers/silent-log.ts';
import { failureOf } from '../helpers/failure-of.ts';

describeDialects('the security log', (open) => {
  const key = randomBytes(32);
  const create = async () => {
    const database = await open();
    await database.migrate('host', migrations);
    const init = { database, clock: createFakeClock(), log: silentLog };
    return {
      database,
      log: createSecurityLog({ ...init, key: () => key }),
      withKey: (other: Buffer) => createSecurityLog({ ...init, key: () => other }),
    };
  };
  const events = async (log: { list: (query: { limit: number }) => Promise<readonly { event: string }[]> }) =>
    (await log.list({ limit: 100 })).map(({ event }) => event);

  it('lists entries, newest first, by event and by position', async () => {
    const { log } = await create();
    await log.record({ event: 'signed_in', userId: 7, ip: '192.0.2.1', details: { login: 'ada' } });
    await log.record({ event: 'exported' });
    await log.record({ event: 'signed_in' });
    expect(await events(log)).to.deep.equal(['signed_in', 'exported', 'signed_in']);
    expect((await log.list({ limit: 1, before: 3 }))[0]).to.include({ event: 'exported', position: 2 });
    expect(await log.list({ limit: 5, event: 'signed_in', before: 3 })).to.have.length(1);
    expect((await log.list({ limit: 1, before: 2 }))[0]).to.deep.include({
      userId: 7,
      ip: '192.0.2.1',
      details: { login: 'ada' },
    });
    expect(await log.events()).to.deep.equal(['exported', 'signed_in']);
  });

  it('refuses to change and delete entries', async () => {
    const { database, log } = await create();
    await log.record({ event: 'signed_in' });
    for (const change of [
      database.knex('security_log').update({ event: 'other' }),
      database.knex('security_log').delete(),
    ])
      expect(String(await failureOf(change))).to.contain('can only be appended to');
    expect(await log.verify()).to.deep.equal({ entries: 1, brokenAt: null });
  });

  it('finds what was changed, removed or inserted past its triggers, and another key', async () => {
    const { database, log, withKey } = await create();
    for (let count = 0; count < 5; count += 1) await log.record({ event: 'signed_in', userId: count });
    expect(await log.verify()).to.deep.equal({ entries: 5, brokenAt: null });
    expect(await withKey(randomBytes(32)).verify()).to.deep.equal({ entries: 0, brokenAt: 1 });
    for (const statement of database.dialect === 'sqlite'
      ? ['DROP TRIGGER security_log_update', 'DROP TRIGGER security_log_delete']
      : ['ALTER TABLE security_log DISABLE TRIGGER ALL'])
      await database.knex.raw(statement);
    const rows = () => database.knex('security_log');
    await rows().where({ position: 3 }).update({ user_id: 9 });
    expect((await log.verify()).brokenAt).to.equal(3);
    await rows().where({ position: 3 }).update({ user_id: 2 });
    expect((await log.verify()).brokenAt).to.equal(null);
    const [second] = (await rows().where({ position: 2 })) as object[];
    await rows().where({ position: 2 }).delete();
    expect((await log.verify()).brokenAt).to.equal(2);
    await rows().insert(second as object);
    await rows().insert({ ...second, position: 6 });
    expect((await log.verify()).brokenAt).to.equal(6);
  });

  it('takes a former key for the entries up to its rotation alone', async () => {
    const { database, log, withKey } = await create();
    const next = randomBytes(32);
    const until = (position: number | null) =>
      createSecurityLog({
        ...{ database, clock: createFakeClock(), log: silentLog, key: () => next },
        formerKeys: async () => [{ key, until: position }],
      });
    for (let count = 0; count < 3; count += 1) await log.record({ event: 'signed_in' });
    await withKey(next).record({ event: 'rotated' });
    expect(await until(3).verify()).to.deep.equal({ entries: 4, brokenAt: null });
    // With the former key, which was stolen.
    await log.record({ event: 'forged' });
    expect(await until(3).verify()).to.deep.equal({ entries: 4, brokenAt: 5 });
    expect((await until(2).verify()).brokenAt).to.equal(3);
    expect((await until(null).verify()).brokenAt, 'a key whose end is not known').to.equal(null);
  });

  it('gives each entry of many writers at once a position of the chain', async () => {
    const { log, withKey } = await create();
    const nodes = [log, withKey(key), withKey(key)];
    await Promise.all(
      Array.from({ length: 60 }, (_, index) => nodes[index % 3]!.record({ event: `event_${String(index)}` })),
    );
    expect(new Set(await events(log)).size).to.equal(60);
    expect(await log.verify()).to.deep.equal({ entries: 60, brokenAt: null });
  });

  it('records nothing of a transaction that is rolled back, and the rest after its commit', async () => {
    const { database, log } = await create();
    await failureOf(
      database.transaction(async () => {
        await log.record({ event: 'undone' });
        throw new Error('roll back');
      }),
    );
    await database.transaction(() => log.record({ event: 'done' }));
    await log.stop();
    expect(await events(log)).to.deep.equal(['done']);
  });
});

describe('what the security log records', () => {
  let folder = '';
  let host: TestHost;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-security-log-'));
    host = await createTestHost({ plugins: ['svc'], database: folder });
  });
  after(async () => {
    await host.stop();
    await rm(folder, { recursive: true, force: true });
  });
  const entries = async (event: string): Promise<Record<string, unknown>[]> =>
    JSON.parse((await host.cli('security-log', 'list', `--event=${event}`, '--json')).out) as Record<string, unknown>[];

  it('users, roles, plugins, secrets and what plugins report, without any secret', async () => {
    const user = await host.users.create({
      login: 'grace',
      email: 'grace@example.com',
      password: 'a long enough phrase',
      role: 'subscriber',
    });
    await host.users.update(user.id, { roles: ['editor'] });
    await host.options.update('shop_key', host.secrets.encrypt('sk-planted-secret'));
    const keys = { name: 'One', key: host.secrets.encrypt('sk-planted-too') };
    await host.options.update('shop_keys', keys);
    await host.options.update('shop_keys', { ...keys, name: 'Two' });
    await host.options.update('shop_keys', { name: 'Two' });
    host.options.registerSetting('shop_account', {
      group: 'shop',
      schema: {
        type: 'object',
        properties: { name: { type: 'string' }, key: { type: 'string', writeOnly: true } },
      },
    });
    await host.options.update('shop_account', { name: 'One', key: 'planted-in-a-setting' });
    await host.options.update('shop_account', { name: 'Two', key: 'planted-in-a-setting' });
    await host.hooks.doActionAsync('security_event', { event: 'shop_emptied', details: { items: 3 } });
    expect(await entries('user_created')).to.have.length(1);
    expect((await entries('role_changed'))[0]?.['details']).to.deep.equal({
      user: user.id,
      role: 'editor',
      before: 'subscriber',
      door: 'job',
    });
    const changed = (await entries('secret_changed')).map(({ details }) => details);
    expect(changed).to.deep.include({ option: 'shop_key', door: 'job' });
    // Added and removed, not renamed.
    expect(changed.filter((each) => JSON.stringify(each).includes('shop_keys'))).to.have.length(2);
    expect(changed.filter((each) => JSON.stringify(each).includes('shop_account'))).to.deep.equal([
      { option: 'shop_account', door: 'job' },
    ]);
    expect((await entries('shop_emptied'))[0]).to.deep.include({ user: 0, details: { items: 3, door: 'job' } });
    const all = (await host.cli('security-log', 'list', '--json')).out;
    expect(all).not.to.contain('planted').and.not.contain('long enough');
    expect(host.logged.join('')).to.contain('"security_event"');
    const { text } = await (await host.signIn()).open('tools/security-log');
    const facts = text.replaceAll(/<\/?span[^>]*>/g, '');
    expect(facts).to.contain('<div>User: grace</div><div>Role: editor</div><div>Before: subscriber</div>');
  });

  it('failed sign-ins, sign-ins and sign-outs', async () => {
    expect((await host.cli('security-log', 'verify')).code).to.equal(0);
    await host.hooks.doActionAsync('wp_login_failed', 'grace', '192.0.2.7');
    expect((await entries('sign_in_failed'))[0]).to.deep.include({
      ip: '192.0.2.7',
      details: { login: 'grace', door: 'job' },
    });
    await host.hooks.doActionAsync('wp_login_failed', 'my secret password', '192.0.2.7');
    expect((await entries('sign_in_failed'))[0]?.['details'], 'what no account has').to.deep.equal({ door: 'job' });
  });

  it('who did it, from where and through which door', async () => {
    const admin = await host.signIn();
    const { id } = admin.user;
    const nonce = await (await host.fetch('/admin/rest-nonce', { headers: { cookie: admin.cookie } })).text();
    const session = { cookie: admin.cookie, 'x-wp-nonce': nonce };
    const rest = async (path: string, headers: Record<string, string>, json?: object) => {
      const response = await host.fetch(`/wp-json${path}`, {
        method: json ? 'POST' : 'DELETE',
        headers: { 'content-type': 'application/json', ...headers },
        ...(json && { body: JSON.stringify(json) }),
      });
      expect(response.status, path).to.be.below(300);
      const text = await response.text();
      // The MCP server answers with a stream of events.
      return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text) as {
        readonly id: number;
        readonly uuid: string;
        readonly password: string;
      };
    };
    const { password, uuid } = await rest('/wp/v2/users/me/application-passwords', session, { name: 'Robot' });
    const program = { authorization: `Basic ${Buffer.from(`${admin.user.login}:${password}`).toString('base64')}` };
    const key = JSON.parse(
      (await host.cli('svc', 'key', 'create', '--name=Shop', '--routes=abilities,mcp', '--json')).out,
    ) as { readonly id: number; readonly key: string };
    const created = { username: 'eve', email: 'eve@example.com', password: 'a long enough phrase', roles: ['editor'] };
    const eve = await rest('/wp/v2/users', session, created);
    await rest(`/wp/v2/users/${String(eve.id)}`, session, { roles: ['author'], password: 'another long phrase' });
    await rest('/wp/v2/users', program, {
      ...created,
      username: 'bot',
      email: 'bot@example.com',
      roles: ['subscriber'],
    });
    const draft = { input: { title: 'From a program' } };
    await rest('/wp-abilities/v1/abilities/host/create-draft/run', program, draft);
    await rest('/wp-abilities/v1/abilities/host/create-draft/run', { authorization: `Bearer ${key.key}` }, draft);
    await rest(
      '/mcp/v1',
      { authorization: `Bearer ${key.key}`, accept: 'application/json, text/event-stream' },
      {
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name: 'host_create-draft', arguments: { title: 'From a model' } },
      },
    );
    await admin.submit(`users/delete?id=${String(eve.id)}`, 'delete', { id: String(eve.id), content: 'remove' });
    await rest(`/wp/v2/users/me/application-passwords/${uuid}`, session);
    await host.cli('svc', 'key', 'revoke', String(key.id));

    const local = '127.0.0.1';
    const acts: readonly (readonly [event: string, doors: readonly string[], user: number, ip: string])[] = [
      ['application_password_created', ['rest'], id, local],
      ['application_password_revoked', ['rest'], id, local],
      ['key_created', ['cli'], 0, ''],
      ['key_revoked', ['cli'], 0, ''],
      ['user_created', ['rest', 'application password'], id, local],
      ['role_changed', ['rest'], id, local],
      ['password_changed', ['rest'], id, local],
      ['user_deleted', ['admin'], id, local],
      ['ability_run', ['application password', 'key', 'mcp'], id, local],
    ];
    for (const [event, doors, user, ip] of acts)
      for (const door of doors) {
        const found = (await entries(event)).filter((entry) => (entry['details'] as { door: string }).door === door);
        expect(found[0], `${event} by ${door}`).to.include({ user, ip });
      }
    const [, byKey] = await entries('ability_run');
    expect(byKey?.['details']).to.include({ ability: 'host/create-draft', key: 'Shop' });
  });

  it('what administrators change in the admin, and not what their pages ask again and again', async () => {
    const { submit } = await host.signIn();
    await submit('svc/deliveries', 'progress');
    await submit('svc/deliveries/inbox', 'progress');
    await submit('svc/tasks', 'live');
    await submit('svc/webhooks', 'set-enabled', { enabled: '1' });
    expect(
      (await entries('admin_action'))
        .map(({ details }) => details as { page: string })
        .filter(({ page }) => page.startsWith('svc/')),
    ).to.deep.equal([{ page: 'svc/webhooks', action: 'set-enabled', door: 'admin' }]);
  });

  it('survives a backup that is restored', async () => {
    const before = (await entries('user_created')).length;
    const file = join(folder, 'copy.jsonl.gz');
    expect((await host.cli('db', 'backup', file)).code).to.equal(0);
    const restored = await host.cli('db', 'restore', file);
    expect(restored.code, restored.err).to.equal(0);
    expect(await entries('user_created')).to.have.length(before);
    expect((await host.cli('doctor')).out + (await host.cli('doctor')).err).not.to.contain('security log was changed');
  });
});

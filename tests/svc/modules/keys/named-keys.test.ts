import { expect } from 'chai';
import type { RestError } from '#plugin-api';
import { createFakeClock } from '../../../../host/testing/fake-clock.ts';
import type { Caller } from '../../../../plugins/svc/kit/caller.ts';
import { apiKeyDigest } from '../../../../plugins/svc/kit/require-api-key.ts';
import { createKeyAccess } from '../../../../plugins/svc/modules/keys/key-access.ts';
import { createKeyStore } from '../../../../plugins/svc/modules/keys/key-store.ts';
import {
  chatbotKeysMigration,
  keysMigration,
  keysTable,
  lenientKeysMigration,
} from '../../../../plugins/svc/modules/keys/key-tables.ts';
import { describeDialects } from '../../../helpers/dialects.ts';
import { failureOf } from '../../../helpers/failure-of.ts';

const start = Date.UTC(2026, 10, 1, 12);
const hour = 3600_000;

describeDialects('named keys', (open) => {
  async function openNodes() {
    const databases = [await open(), await open()];
    await databases[0]!.migrate('svc', [keysMigration, lenientKeysMigration]);
    const clock = createFakeClock({ now: start });
    const site = { timezone: async () => 'Pacific/Auckland' };
    const nodes = databases.map((database) => {
      const hooks = { doActionAsync: async () => undefined };
      const host = { database, clock, site, hooks } as unknown as Parameters<typeof createKeyStore>[0];
      const access = createKeyAccess(host);
      const find = (secret: string): Promise<Caller | null> => access.find([apiKeyDigest(secret)]);
      return { database, store: createKeyStore(host), access, find };
    });
    return { clock, first: nodes[0]!, second: nodes[1]! };
  }

  const refusalOf = async (work: Promise<unknown>): Promise<RestError> => (await failureOf(work)) as RestError;
  const codeOf = async (work: Promise<unknown>): Promise<string> => (await refusalOf(work)).code;

  it('are stored as a hash, with a prefix to recognize them by', async () => {
    const { first } = await openNodes();
    const { key, secret } = await first.store.create({ name: ' Shop ', routes: ['generate'] }, 7);
    expect(secret).to.match(/^svck_[\w-]{43}$/);
    expect(key).to.include({
      name: 'Shop',
      prefix: secret.slice(0, 11),
      createdBy: 7,
      expiresAt: null,
      revokedAt: null,
    });
    const rows = await first.database.knex(keysTable);
    expect(JSON.stringify(rows)).not.to.contain(secret.slice(11));
    const caller = await first.find(secret);
    expect(caller).to.deep.equal({ kind: 'named-key', isLenient: false, id: key.id, name: 'Shop', scopes: key.scopes });
    expect(await first.find(`${secret}x`)).to.equal(null);
  });

  it('are refused on every node at once after a revocation, and stay so', async () => {
    const { first, second } = await openNodes();
    const { key, secret } = await first.store.create({ name: 'Shop', routes: ['generate'] }, 0);
    expect(await second.find(secret)).to.include({ id: key.id });
    expect((await first.store.revoke(key.id)).revokedAt).to.equal(start);
    expect(await codeOf(second.find(secret))).to.equal('rest_svc_key_revoked');
    expect(await codeOf(first.store.rotate(key.id, hour))).to.equal('rest_svc_key_is_revoked');
    expect((await first.store.revoke(key.id)).revokedAt).to.equal(start);
    expect((await first.store.list()).map(({ id }) => id)).to.deep.equal([key.id]);
  });

  it('work through their last day in the time zone of the site', async () => {
    const { clock, first } = await openNodes();
    const { key, secret } = await first.store.create({ name: 'Shop', routes: ['chat'], expires: '2026-11-02' }, 0);
    // Auckland is 13 hours ahead: it is 3 November there from 11:00 UTC of the 2nd.
    expect(key.expiresAt).to.equal(Date.UTC(2026, 10, 2, 11));
    await clock.advance(23 * hour - 1);
    expect(await first.find(secret)).to.include({ id: key.id });
    await clock.advance(1);
    const error = await refusalOf(first.find(secret));
    expect(error).to.include({ code: 'rest_svc_key_expired', status: 401 });
  });

  it('keep the secret before a rotation for the overlap alone', async () => {
    const { clock, first, second } = await openNodes();
    const { key, secret } = await first.store.create({ name: 'Shop', routes: ['chat'] }, 0);
    const rotated = await first.store.rotate(key.id, hour);
    expect(rotated.secret).not.to.equal(secret);
    expect(await second.find(secret)).to.include({ id: key.id });
    expect(await second.find(rotated.secret)).to.include({ id: key.id });
    await clock.advance(hour);
    expect(await codeOf(second.find(secret))).to.equal('rest_svc_key_replaced');
    expect(await second.find(rotated.secret)).to.include({ id: key.id });
    const last = await first.store.rotate(key.id, 0);
    expect(await second.find(rotated.secret)).to.equal(null);
    expect(await second.find(last.secret)).to.include({ id: key.id });
  });

  it('have a limit per minute of their own, over all nodes, and note their use once a minute', async () => {
    const { clock, first, second } = await openNodes();
    const limited = await first.store.create({ name: 'Limited', routes: ['chat'], requests_per_minute: 2 }, 0);
    const other = await first.store.create({ name: 'Other', routes: ['chat'], requests_per_minute: 2 }, 0);
    const call = async (node: typeof first, secret: string): Promise<void> =>
      node.access.count((await node.find(secret))!);
    await call(first, limited.secret);
    await clock.advance(1000);
    await call(second, limited.secret);
    expect((await first.store.get(limited.key.id))?.lastUsedAt).to.equal(start);
    const error = await refusalOf(call(first, limited.secret));
    expect(error).to.include({ code: 'rest_svc_rate_limited', status: 429 });
    await call(first, other.secret);
    await clock.advance(59_000);
    await call(first, limited.secret);
    expect((await first.store.get(limited.key.id))?.lastUsedAt).to.equal(start + 60_000);
  });

  it('name every invalid setting', async () => {
    const { first } = await openNodes();
    const error = await refusalOf(
      first.store.create(
        { routes: [], providers: ['No!'], chatbots: ['x'], expires: '2026-02-30', requests_per_minute: -1 },
        0,
      ),
    );
    expect(Object.keys((error.data as { params: object }).params).sort()).to.deep.equal([
      'chatbots',
      'expires',
      'name',
      'providers',
      'requests_per_minute',
      'routes',
    ]);
  });

  it('of earlier versions keep the models that they reach beside their chatbots, and say so', async () => {
    const database = await open();
    await database.migrate('svc', [keysMigration, lenientKeysMigration]);
    const scopes = {
      routes: ['openai'],
      providers: [],
      models: [] as string[],
      chatbots: [] as number[],
      abilities: [],
    };
    const given = [scopes, { ...scopes, chatbots: [3] }, { ...scopes, chatbots: [3], models: ['gpt-5'] }];
    for (const [index, one] of given.entries())
      await database.knex(keysTable).insert({
        ...{ name: `Key ${index}`, prefix: 'svck_', digest: String(index), scopes: JSON.stringify(one) },
        ...{ requests_per_minute: 0, created_at: 0, created_by: 0 },
      });
    await database.migrate('svc', [keysMigration, lenientKeysMigration, chatbotKeysMigration]);
    const rows = (await database.knex(keysTable).orderBy('id').select('scopes')) as { scopes: string }[];
    expect(rows.map((row) => JSON.parse(row.scopes) as unknown)).to.deep.equal([
      given[0],
      { ...given[1], models: ['*'] },
      given[2],
    ]);
  });
});

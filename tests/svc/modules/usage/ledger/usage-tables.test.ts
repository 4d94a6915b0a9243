import { expect } from 'chai';
import { createFakeClock } from '../../../../../host/testing/fake-clock.ts';
import {
  usageMigration,
  usageReferenceMigration,
} from '../../../../../plugins/svc/modules/usage/ledger/usage-tables.ts';
import { tokenKinds } from '../../../../../plugins/svc/kit/token-details.ts';
import { describeDialects } from '../../../../helpers/dialects.ts';
import { call, openLedger } from './ledger.ts';

type Row = Readonly<Record<string, unknown>>;

const start = Date.UTC(2026, 0, 1);
const dayLength = 86_400_000;
const outcomes = ['ok', 'ok', 'ok', 'rest_svc_provider_timeout'];
const noKinds = Object.fromEntries(tokenKinds.map((kind) => [`${kind}_tokens`, 0]));

/** Calls of 40 days, with and without what may be null; the last ones on the day that the clock shows. */
const oldCalls: readonly Row[] = Array.from({ length: 1_200 }, (_, index) => ({
  time: start - (39 - Math.floor(index / 30)) * dayLength,
  module: index % 2 === 0 ? 'rest' : 'chatbots',
  route: index % 2 === 0 ? '/generate' : null,
  bot_id: index % 2 === 0 ? null : 1 + (index % 3),
  kind: 'text',
  provider: 'acme',
  model: `acme-${String(1 + (index % 2))}`,
  input_tokens: 1000 + index,
  output_tokens: 200,
  images: index % 5,
  cost: index % 7 === 0 ? null : 32_000,
  duration: 340,
  outcome: outcomes[index % 4],
  sandbox: index % 11 === 0 ? 1 : 0,
  reference: index % 10 === 0 ? `automation:${String(index)}` : null,
}));

/** What those calls add up to, beyond what 32 bits hold on the first day. */
const oldDays: readonly Row[] = Array.from({ length: 40 }, (_, index) =>
  [
    { module: 'rest', bot_id: 0 },
    { module: 'chatbots', bot_id: 2 },
  ].map((keys) => ({
    ...keys,
    day: new Date(start - (39 - index) * dayLength).toISOString().slice(0, 10),
    kind: 'text',
    provider: 'acme',
    model: 'acme-1',
    outcome: 'ok',
    sandbox: 0,
    calls: 15,
    input_tokens: index === 0 ? 9_000_000_000 : 15_000,
    output_tokens: 3_000,
    images: 4,
    cost: index === 0 ? 5_000_000_000 : 480_000,
    unpriced: 2,
    duration: 5_100,
  })),
).flat();

/** PostgreSQL gives large numbers as text. */
const plain = (rows: readonly Row[]): Row[] =>
  rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value,
      ]),
    ),
  );

describeDialects('the tables of the usage ledger', (open) => {
  it('keep the calls and days of the version before callers, and go on with them', async () => {
    const database = await open();
    const { knex } = database;
    await database.migrate('svc', [usageMigration, usageReferenceMigration]);
    await knex.batchInsert('svc_usage', [...oldCalls], 100);
    await knex.batchInsert('svc_usage_days', [...oldDays], 40);
    const callsOf = async (): Promise<Row[]> => plain(await knex('svc_usage').orderBy('id').select<Row[]>('*'));
    const daysOf = async (day?: string): Promise<Row[]> =>
      plain(
        await knex('svc_usage_days')
          .where(day === undefined ? {} : { day })
          .orderBy(['day', { column: 'module', order: 'desc' }, 'key_id'])
          .select<Row[]>('*'),
      );
    const before = await callsOf();
    expect(before.map(({ id: _id, ...stored }) => stored)).to.deep.equal(oldCalls);

    const { ledger, clock } = await openLedger(database, { clock: createFakeClock({ now: start }) });
    const noCaller = { key_id: null, user_id: null, plugin: null, roles: null };
    expect(await callsOf()).to.deep.equal(before.map((row) => ({ ...row, ...noCaller, ...noKinds })));
    const migrated = oldDays.map((day) => ({
      ...day,
      ...{ key_id: 0, user_id: 0, plugin: '', ...noKinds },
      billed: day['outcome'] === 'ok' ? day['calls'] : 0,
    }));
    expect(await daysOf()).to.deep.equal(migrated);

    const scopes = { routes: [], providers: [], models: [], chatbots: [], abilities: [] };
    ledger.record(call);
    ledger.record({ ...call, caller: { kind: 'named-key', id: 9, name: 'Shop', scopes }, userId: 4, plugin: 'shop' });
    await clock.advance(1_000);
    await ledger.flush();
    const added = (await callsOf()).slice(before.length);
    expect(added.map(({ key_id, user_id, plugin }) => [key_id, user_id, plugin])).to.deep.equal([
      [null, null, null],
      [9, 4, 'shop'],
    ]);
    expect(Number(added[0]!['id'])).to.be.above(Number(before.at(-1)!['id']));
    expect(await daysOf('2025-11-23')).to.deep.equal(migrated.slice(0, 2));
    const today = await daysOf('2026-01-01');
    expect(
      today.map(({ module, key_id, user_id, plugin, calls, input_tokens }) => [
        module,
        key_id,
        user_id,
        plugin,
        calls,
        input_tokens,
      ]),
    ).to.deep.equal([
      ['rest', 0, 0, '', 16, 16_000],
      ['rest', 9, 4, 'shop', 1, 1_000],
      ['chatbots', 0, 0, '', 15, 15_000],
    ]);
  });
});

import { expect } from 'chai';
import { RestError } from '#plugin-api';
import { createFakeClock } from '../../../host/testing/fake-clock.ts';
import { createRateLimit, rateLimitMigration } from '../../../plugins/svc/kit/rate-limit.ts';
import { describeDialects } from '../../helpers/dialects.ts';

const minute = Date.UTC(2026, 0, 1, 12, 0, 0);

async function outcome(take: () => Promise<void>): Promise<'in' | RestError> {
  try {
    await take();
    return 'in';
  } catch (error) {
    if (error instanceof RestError) return error;
    throw error;
  }
}

describeDialects('the limit of REST calls a minute', (open) => {
  it('counts nothing without a limit', async () => {
    const database = await open();
    await database.migrate('svc', [rateLimitMigration]);
    const take = createRateLimit({ database, clock: createFakeClock(), perMinute: async () => 0 });
    for (let call = 0; call < 5; call += 1) expect(await outcome(take)).to.equal('in');
    expect(await database.knex('svc_rate_windows')).to.have.length(0);
  });

  it('rejects extra calls until the minute ends, and says how long to wait', async () => {
    const database = await open();
    await database.migrate('svc', [rateLimitMigration]);
    const clock = createFakeClock({ now: minute + 20_000 });
    const take = createRateLimit({ database, clock, perMinute: async () => 2 });
    expect([await outcome(take), await outcome(take)]).to.deep.equal(['in', 'in']);
    const refused = await outcome(take);
    expect(refused).to.include({ code: 'rest_svc_rate_limited', status: 429 });
    expect((refused as RestError).headers).to.deep.equal({ 'Retry-After': '40' });
    await clock.advance(40_000);
    expect(await outcome(take)).to.equal('in');
    expect(await database.knex('svc_rate_windows')).to.have.length(1);
  });

  it('holds over all nodes together, also for calls at the same moment', async () => {
    const nodes = [await open(), await open()];
    await nodes[0]!.migrate('svc', [rateLimitMigration]);
    const clock = createFakeClock({ now: minute });
    const takes = nodes.map((database) => createRateLimit({ database, clock, perMinute: async () => 5 }));
    const outcomes = await Promise.all(Array.from({ length: 12 }, (_, call) => outcome(takes[call % 2]!)));
    expect(outcomes.filter((result) => result === 'in')).to.have.length(5);
  });

  it('accepts calls again as soon as the limit is raised', async () => {
    const database = await open();
    await database.migrate('svc', [rateLimitMigration]);
    let limit = 1;
    const take = createRateLimit({ database, clock: createFakeClock({ now: minute }), perMinute: async () => limit });
    await take();
    expect(await outcome(take)).to.include({ status: 429 });
    limit = 10;
    expect(await outcome(take)).to.equal('in');
  });
});

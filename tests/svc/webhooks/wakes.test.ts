import { expect } from 'chai';
import { createSystemClock } from '../../../host/clock.ts';
import { migrations as optionMigrations } from '../../../host/options/options.ts';
import type { MakeAttempt } from '../../../plugins/svc/webhooks/attempt.ts';
import { webhookMigrations } from '../../../plugins/svc/webhooks/migrations.ts';
import { createPostgresqlStore } from '../../../plugins/svc/webhooks/store/postgresql-store.ts';
import { createSqliteStore } from '../../../plugins/svc/webhooks/store/sqlite-store.ts';
import type { Store } from '../../../plugins/svc/webhooks/store/store-contract.ts';
import type { Circuits } from '../../../plugins/svc/webhooks/worker/circuits.ts';
import { createWorker } from '../../../plugins/svc/webhooks/worker/worker.ts';
import { describeDialects } from '../../helpers/dialects.ts';
import { silentLog } from '../../helpers/silent-log.ts';

const well = { isWell: () => true, mayProbe: () => true, untilProbe: () => 0 } as unknown as Circuits;
const newEvent = (uuid: string) => ({
  uuid,
  name: 'event',
  key: 'k',
  body: Buffer.from('{}'),
  needsEnvelopeFilter: false,
  context: null,
  bodyState: 0,
  userId: null,
  sessionId: null,
  deliveries: [{ uuid: `${uuid} delivery`, endpointId: 'one', orderKey: null, target: null, failed: null, wait: 0 }],
});

describeDialects('waking the webhook worker', (open) => {
  it('during a claim is not lost if the claim finds nothing', async () => {
    const database = await open();
    await database.migrate('host', optionMigrations);
    await database.migrate('svc', webhookMigrations);
    const store =
      database.dialect === 'sqlite' ? createSqliteStore(database, 'me') : createPostgresqlStore(database, 'me');
    let claimed = (): void => undefined;
    let answer = (): void => undefined;
    const firstClaim = new Promise<void>((resolve) => (claimed = resolve));
    const stored = new Promise<void>((resolve) => (answer = resolve));
    const slow: Store = {
      ...store,
      async exchange(exchange) {
        const result = await store.exchange(exchange);
        if (exchange.claims.length > 0) {
          claimed();
          await stored;
        }
        return result;
      },
    };
    const sent: string[] = [];
    let arrived = (): void => undefined;
    const arrival = new Promise<void>((resolve) => (arrived = resolve));
    const attempt: MakeAttempt = (job) => {
      sent.push(job.uuid);
      arrived();
      return Promise.resolve({
        result: {
          job,
          state: 'delivered',
          delay: 0,
          attempted: true,
          exempt: false,
          status: 200,
          failure: null,
          error: null,
          duration: 1,
          log: null,
        },
        outcome: null,
      });
    };
    const worker = createWorker({
      host: { clock: createSystemClock(), log: silentLog },
      store: slow,
      attempt,
      circuits: well,
      elapsed: () => performance.now(),
      onSettled: () => undefined,
      onReleased: () => undefined,
      mayClaim: () => Promise.resolve(true),
      holdReason: () => null,
      isUnavailable: () => false,
    } as Parameters<typeof createWorker>[0]);
    worker.start();
    worker.wake(['one']);
    await firstClaim;
    await store.add([newEvent('late')], { durable: true });
    worker.wake(['one']);
    answer();
    await arrival;
    await worker.stop();
    expect(sent).to.deep.equal(['late delivery']);
  });
});

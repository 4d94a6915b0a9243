import { expect } from 'chai';
import { localMinute, momentOf } from '#plugin-api';
import { createFakeClock } from '#testing';
import type { WebhookMetrics } from '../../../../plugins/svc/webhooks/delivery.ts';
import { createHourlyCounts } from '../../../../plugins/svc/webhooks/hourly-counts.ts';
import { hoursMigration } from '../../../../plugins/svc/webhooks/hourly-counts.ts';
import { curlAsSent } from '../../../../plugins/svc/webhooks/pages/delivery-curl.ts';
import { describeFailure, stateBadge } from '../../../../plugins/svc/webhooks/pages/delivery-labels.ts';
import { readDeliveryLogQuery, toDeliveryFilter } from '../../../../plugins/svc/webhooks/pages/delivery-log-filter.ts';
import { describeDialects, silentLog } from '../../../helpers/dialects.ts';
import { until } from '../../../helpers/until.ts';

describe('times of the delivery log', () => {
  it('are local minutes of the site, on days with a changed clock too', () => {
    expect(localMinute(Date.UTC(2026, 10, 21, 10, 5, 59), 'Europe/Berlin')).to.equal('2026-11-21T11:05');
    for (const [text, zone, utc] of [
      ['2026-11-21T11:05', 'Europe/Berlin', Date.UTC(2026, 10, 21, 10, 5)],
      ['2026-03-29T01:59', 'Europe/Berlin', Date.UTC(2026, 2, 29, 0, 59)],
      ['2026-03-29T03:00', 'Europe/Berlin', Date.UTC(2026, 2, 29, 1)],
      ['2026-10-25T02:30', 'Europe/Berlin', Date.UTC(2026, 9, 25, 0, 30)],
      ['2026-10-25T03:00', 'Europe/Berlin', Date.UTC(2026, 9, 25, 2)],
      ['2026-01-01T00:00', 'Asia/Kathmandu', Date.UTC(2025, 11, 31, 18, 15)],
      ['2026-01-01T00:00', 'Nowhere/Land', Date.UTC(2026, 0, 1)],
    ] as const)
      expect(momentOf(text, zone), `${text} ${zone}`).to.equal(utc);
    expect(['', '2026-13-01T00:00', 'now'].map((text) => momentOf(text, 'UTC'))).to.deep.equal([null, null, null]);
  });

  it('end with the whole of their minute', () => {
    const query = readDeliveryLogQuery(
      { since: '2026-11-21T10:00', until: '2026-11-21T10:00', state: 'failed', event: ['x'], endpoint: ' one ' },
      'UTC',
    );
    expect(query).to.deep.equal({
      since: '2026-11-21T10:00',
      until: '2026-11-21T10:00',
      state: 'failed',
      endpoint: 'one',
    });
    expect(toDeliveryFilter(query, 'UTC')).to.deep.equal({
      since: Date.UTC(2026, 10, 21, 10),
      until: Date.UTC(2026, 10, 21, 10, 0, 59, 999),
      state: 'failed',
      endpointId: 'one',
    });
  });
});

describe('labels of the delivery log', () => {
  it('say for each failure what it was and what to do', () => {
    for (const failure of [
      'dns',
      'connect',
      'tls',
      'timeout',
      'guard',
      'redirect',
      'reset',
      'answer',
      'filter',
      'aborted',
      'stopped',
    ] as const) {
      const words = describeFailure({ failure, error: 'More of it.', status: null });
      expect(words?.reason, failure).to.match(/\.$/);
      expect(words?.advice, failure).not.to.equal('');
      expect(words?.detail).to.equal('More of it.');
    }
    expect(describeFailure({ failure: 'status', error: null, status: 404 })?.reason).to.equal(
      'The endpoint responded with 404.',
    );
    expect(describeFailure({ failure: null, error: null, status: 200 })).to.equal(null);
  });

  it('distinguish a delivery that waits for a retry from one without attempts', () => {
    expect(stateBadge({ state: 'pending', attempts: 0, held: null }).text).to.equal('Pending');
    expect(stateBadge({ state: 'pending', attempts: 1, held: null }).text).to.equal('Retrying');
  });

  it('write what a clipboard would change as escapes', () => {
    expect(curlAsSent({ url: 'http://a.test', headers: {}, body: 'a\r\nb\\1' })).to.contain(
      "printf %b 'a\\0015\nb\\\\1' |",
    );
    expect(curlAsSent({ url: "http://a.test/?q='", headers: { 'X-`id`': '[redacted]' }, body: '' }))
      .to.contain("'http://a.test/?q='\\'''")
      .and.contain('-H \'X-`id`: \'"$X__ID_"');
  });
});

describeDialects('counts of deliveries by hour', (open) => {
  it('add up what each node has counted, hour by hour and endpoint by endpoint', async () => {
    const clock = createFakeClock({ now: Date.UTC(2026, 10, 21, 10, 30) });
    const database = await open();
    await database.migrate('svc', [hoursMigration]);
    const node = () => {
      const counted = { one: [0, 0, 0], two: [0, 0, 0] };
      const metrics = async () =>
        ({
          endpoints: Object.entries(counted).map(([endpointId, [delivered, failed, retried]]) => ({
            endpointId,
            delivered,
            failed,
            retried,
          })),
        }) as unknown as WebhookMetrics;
      return {
        counted,
        hours: createHourlyCounts({ host: { database, clock, log: silentLog }, deliveryLog: { metrics } }),
      };
    };
    const [first, second] = [node(), node()];
    first.counted.one = [5, 1, 2];
    second.counted.one = [3, 0, 0];
    second.counted.two = [1, 1, 0];
    await Promise.all([first.hours.flush(), second.hours.flush(), first.hours.flush()]);
    clock.jump(3_600_000);
    first.counted.one = [7, 1, 2];
    await first.hours.flush();
    const span = { since: Date.UTC(2026, 10, 21), until: Date.UTC(2026, 10, 22) };
    const [ten, eleven] = [Date.UTC(2026, 10, 21, 10), Date.UTC(2026, 10, 21, 11)];
    expect(await second.hours.read(span)).to.deep.equal([
      { hour: ten, delivered: 9, failed: 2, retried: 2 },
      { hour: eleven, delivered: 2, failed: 0, retried: 0 },
    ]);
    expect(await second.hours.read({ ...span, endpointId: 'two' })).to.deep.equal([
      { hour: ten, delivered: 1, failed: 1, retried: 0 },
    ]);
    clock.jump(93 * 24 * 3_600_000);
    first.hours.start();
    await clock.advance(60_000);
    await until(
      'the deletion of old hours',
      async () => (await first.hours.read({ since: 0, until: Number.MAX_SAFE_INTEGER })).length === 0,
    );
  });
});

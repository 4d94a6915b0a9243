import { createUsageMetrics } from '../../../../plugins/svc/modules/usage/ledger/usage-metrics.ts';
import type { NewUsageRow } from '../../../../plugins/svc/modules/usage/ledger/usage-row.ts';
import { formatShortNumber, startOfDay } from '#plugin-api';
import { expect } from 'chai';
import { createFakeClock } from '../../../../host/testing/fake-clock.ts';
import { formatMoney } from '#plugin-api';
import { drawChart } from '#plugin-api';
import { usageCsv } from '../../../../plugins/svc/modules/usage/usage-csv.ts';
import { daysOf, readFilter, type UsageFilter } from '../../../../plugins/svc/modules/usage/usage-filter.ts';
import { groupUsage, listUsage, sumUsage, usedValues } from '../../../../plugins/svc/modules/usage/usage-queries.ts';
import { describeDialects } from '../../../helpers/dialects.ts';
import { call, openLedger } from './ledger/ledger.ts';

const now = Date.UTC(2026, 10, 21, 10);
const read = (query: Record<string, unknown>, timezone = 'UTC') => readFilter(query, { now, timezone });
const day = 24 * 3600 * 1000;

describe('the filter of usage', () => {
  const span = (query: Record<string, unknown>, timezone?: string) => {
    const { period, from, to } = read(query, timezone);
    return [period, from, to];
  };

  it('is the last 30 days until another period is chosen', () => {
    expect(span({})).to.deep.equal(['30', '2026-10-23', '2026-11-21']);
    expect(span({ period: 'today' })).to.deep.equal(['today', '2026-11-21', '2026-11-21']);
    expect(span({ period: '90' })).to.deep.equal(['90', '2026-08-24', '2026-11-21']);
    expect(span({ period: 'for ever' })[0]).to.equal('30');
    expect(span({ period: 'today' }, 'Pacific/Kiritimati')[1]).to.equal('2026-11-22');
  });

  it('takes days in any order, one alone, none that is to come or does not exist, and not too many', () => {
    const custom = (from: string, to: string) => span({ period: 'custom', from, to });
    expect(custom('2026-11-01', '2026-11-03')).to.deep.equal(['custom', '2026-11-01', '2026-11-03']);
    expect(custom('2026-11-03', '2026-11-01')).to.deep.equal(['custom', '2026-11-01', '2026-11-03']);
    expect(custom('2026-11-20', '')).to.deep.equal(['custom', '2026-11-20', '2026-11-21']);
    expect(custom('2026-11-20', '2030-01-01')).to.deep.equal(['custom', '2026-11-20', '2026-11-21']);
    expect(custom('2026-02-30', 'x')[0]).to.equal('30');
    expect(custom('1999-01-01', '2026-11-21')[1]).to.equal('2025-10-18');
  });

  it('begins days where the site’s clocks do, on days with a changed clock too', () => {
    expect(startOfDay('2026-03-29', 'Europe/Berlin')).to.equal(Date.UTC(2026, 2, 28, 23));
    expect(startOfDay('2026-03-30', 'Europe/Berlin')).to.equal(Date.UTC(2026, 2, 29, 22));
    expect(startOfDay('2026-01-01', 'Asia/Kathmandu')).to.equal(Date.UTC(2025, 11, 31, 18, 15));
    // There was no midnight in Beirut that day.
    expect(startOfDay('2026-03-29', 'Asia/Beirut')).to.equal(Date.UTC(2026, 2, 28, 22));
  });

  it('keeps what can be filtered by and leaves the rest', () => {
    expect(read({ provider: ' openai ', outcome: 'failed', kind: '', model: ['a'], page: '3' }).values).to.deep.equal({
      provider: 'openai',
      outcome: 'failed',
    });
  });
});

describe('figures of usage', () => {
  it('are money with the digits that say something', () => {
    expect([0, 1, 180, 2100, 13_000, 990_000, 12_345_678, 1_234_567_890].map(formatMoney)).to.deep.equal([
      '$0',
      '$0.000001',
      '$0.00018',
      '$0.0021',
      '$0.013',
      '$0.99',
      '$12.35',
      '$1,234.57',
    ]);
  });

  it('are short where there is little room', () => {
    expect([0, 12, 1000, 340_400, 1_022_122, 2e9].map(formatShortNumber)).to.deep.equal([
      '0',
      '12',
      '1k',
      '340k',
      '1.02M',
      '2G',
    ]);
  });

  it('have room for the longest label of a line', () => {
    for (const value of [1, 4_200, 12_000_000, 123_456_000_000]) {
      const days = [{ day: '2026-01-01', value, failed: 0 }];
      const chart = drawChart({ width: 340, days, whole: false, format: formatMoney, title: ({ day: name }) => name });
      for (const { text } of chart.lines) expect(text.length * 7.5, text).to.be.at.most(chart.left);
    }
  });

  it('have labels below bars that are equally far from each other, with one below the last', () => {
    for (const count of [1, 2, 7, 24, 30, 90]) {
      const days = Array.from({ length: count }, (_, index) => ({ day: String(index), value: 1, failed: 0 }));
      const init = { width: 720, days, whole: true, format: String, title: () => '', label: (day: string) => day };
      const labeled = drawChart(init).labels.map(({ text }) => Number(text));
      expect(labeled.at(-1)).to.equal(count - 1);
      expect(labeled.length).to.be.at.least(Math.min(count, 3));
      expect(new Set(labeled.slice(1).map((label, index) => label - Number(labeled[index]))).size).to.be.at.most(1);
    }
  });

  it('have lines that differ where nothing has cost anything', () => {
    const days = [{ day: '2026-01-01', value: 0, failed: 0 }];
    const init = { width: 720, days, whole: false, unit: 1_000_000, format: formatMoney, title: () => '' };
    const texts = drawChart(init).lines.map(({ text }) => text);
    expect(texts).to.deep.equal(['$0', '$0.25', '$0.50', '$0.75', '$1.00']);
  });

  it('are drawn inside the picture, whatever they are', () => {
    for (const values of [[0], [1], [0, 0, 7], Array.from({ length: 400 }, (_, index) => index * 1e12)]) {
      const days = values.map((value, index) => ({ day: `2026-01-${index}`, value, failed: value / 2 }));
      const chart = drawChart({ width: 340, days, whole: true, format: String, title: ({ day: name }) => name });
      expect(chart.bars.length).to.equal(values.length);
      for (const bar of chart.bars) {
        expect(bar.y).to.be.at.least(0);
        expect(bar.y + bar.height).to.be.closeTo(chart.bottom, 0.01);
        expect(bar.failedHeight).to.be.at.most(bar.height);
        expect(bar.x + bar.width).to.be.at.most(chart.right + 0.01);
      }
      expect(Number(chart.lines.at(-1)?.text)).to.be.at.least(Math.max(...values));
    }
  });
});

describeDialects('asking the usage ledger', (open) => {
  async function filled() {
    const database = await open();
    const clock = createFakeClock({ now });
    const { ledger } = await openLedger(database, { clock });
    for (let ago = 0; ago < 3; ago += 1) {
      clock.jump(-ago * day);
      ledger.record(call);
      ledger.record({
        ...call,
        provider: 'other',
        model: '=cmd|"/c"!A1, or so',
        kind: 'image',
        images: 2,
        outcome: 'rest_svc_provider_timeout',
        module: 'chatbots',
        route: null,
        botId: 5,
      });
      ledger.record({ ...call, model: 'unpriced' });
      await ledger.flush();
      clock.jump(ago * day);
    }
    return database;
  }
  const filter = (query: Record<string, unknown> = {}): UsageFilter => read(query);

  it('sums a period up, with filters that go together', async () => {
    const database = await filled();
    expect(await sumUsage(database, filter())).to.deep.equal({
      calls: 9,
      failed: 3,
      inputTokens: 9000,
      outputTokens: 1800,
      images: 6,
      cachedTokens: 0,
      reasoningTokens: 0,
      cost: 96_000,
      unpriced: 6,
      duration: 3060,
    });
    expect((await sumUsage(database, filter({ period: 'today' }))).calls).to.equal(3);
    expect(
      (await sumUsage(database, filter({ outcome: 'failed', provider: 'other', kind: 'image', sandbox: '0' }))).calls,
    ).to.equal(3);
    expect((await sumUsage(database, filter({ outcome: 'ok', provider: 'other' }))).calls).to.equal(0);
    expect((await sumUsage(database, filter({ sandbox: '1' }))).calls).to.equal(0);
  });

  it('sums up by day, provider, model, module and outcome', async () => {
    const database = await filled();
    const names = async (by: Parameters<typeof groupUsage>[2]) =>
      (await groupUsage(database, filter(), by)).map(({ name, calls }) => [name, calls]);
    expect(await names('day')).to.deep.equal([
      ['2026-11-19', 3],
      ['2026-11-20', 3],
      ['2026-11-21', 3],
    ]);
    expect(await names('provider')).to.deep.equal([
      ['acme', 6],
      ['other', 3],
    ]);
    expect(await names('outcome')).to.deep.equal([
      ['ok', 6],
      ['rest_svc_provider_timeout', 3],
    ]);
    expect(await usedValues(database, filter(), 'module')).to.deep.equal(['chatbots', 'rest']);
    expect(daysOf(filter({ period: '7' })).length).to.equal(7);
  });

  it('lists calls newest first, page by page in both directions, none twice and none left out', async () => {
    const database = await filled();
    const page = (place: Partial<Parameters<typeof listUsage>[1]> = {}) =>
      listUsage(database, { filter: filter(), timezone: 'UTC', limit: 4, ...place });
    const first = await page();
    const second = await page({ before: first.at(-1)! });
    const third = await page({ before: second.at(-1)! });
    const all = [...first, ...second, ...third];
    expect(all.map(({ time }) => time)).to.deep.equal(
      [...all.map(({ time }) => time)].sort((left, right) => right - left),
    );
    expect(new Set(all.map(({ id }) => id)).size).to.equal(9);
    expect(await page({ after: third[0]! })).to.deep.equal(second);
    expect(await page({ after: first[0]! })).to.deep.equal([]);
    expect(
      (
        await listUsage(database, { filter: filter({ period: 'today', outcome: 'failed' }), timezone: 'UTC', limit: 9 })
      ).map(({ bot_id }) => bot_id),
    ).to.deep.equal([5]);
  });

  it('writes them as CSV that no spreadsheet runs', async () => {
    const database = await filled();
    let text = '';
    for await (const part of usageCsv(database, { filter: filter({ period: 'today' }), timezone: 'UTC' })) text += part;
    const lines = text.split('\r\n');
    const names =
      'time,module,route,bot_id,kind,provider,model,input_tokens,output_tokens,images,cost_usd,duration_ms,outcome,sandbox,reference,' +
      'key_id,user_id,plugin,cached_input_tokens,cache_write_tokens,cache_write_1h_tokens,image_input_tokens,' +
      'audio_input_tokens,reasoning_tokens,image_output_tokens,audio_output_tokens,roles';
    const quoted = (texts: string): string => texts.replace(/[^,]+/g, '"$&"');
    expect(lines[0]).to.equal(`\ufeff${quoted(names)}`);
    const at = '"2026-11-21T10:00:00.000Z"';
    // Neither reference nor caller nor kinds of tokens.
    const none = ',,,,0,0,0,0,0,0,0,0,';
    expect(lines[1]).to.equal(`${at},"rest","/generate",,"text","acme","unpriced",1000,200,0,,340,"ok",0,${none}`);
    expect(lines[2]).to.equal(
      `${at},"chatbots",,5,"image","other","'=cmd|""/c""!A1, or so",1000,200,2,,340,"rest_svc_provider_timeout",0,${none}`,
    );
    expect(lines.length).to.equal(5);
  });
});

describe('counters of usage by caller', () => {
  const row = (user_id: number) =>
    ({ module: 'rest', bot_id: null, key_id: null, user_id, plugin: null, outcome: 'ok', cost: 10 }) as NewUsageRow;

  it('count each call once for each kind of caller, and callers beyond the fiftieth together', () => {
    const metrics = createUsageMetrics();
    metrics.count(Array.from({ length: 80 }, (_, index) => ({ ...row(index + 1), input_tokens: 2, output_tokens: 1 })));
    metrics.count([{ ...row(1), input_tokens: 2, output_tokens: 1 }]);
    const samples = (name: string) => metrics.read().find((metric) => metric.name === name)?.samples ?? [];
    const users = samples('svc_usage_calls_total').filter(({ labels }) => labels?.['by'] === 'user');
    expect(users).to.have.length(51);
    expect(users[0]).to.deep.equal({ labels: { by: 'user', name: '1' }, value: 2 });
    expect(users[50]).to.deep.equal({ labels: { by: 'user', name: 'other' }, value: 30 });
    expect(samples('svc_usage_tokens_total')[0]).to.deep.equal({ labels: { by: 'module', name: 'rest' }, value: 243 });
    expect(samples('svc_usage_cost_dollars_total')[0]?.value).to.equal(0.00081);
  });
});

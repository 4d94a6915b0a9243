import { expect } from 'chai';
import { RestError, type Media } from '#plugin-api';
import { createGenerateVideos } from '../../../plugins/svc/ai/generate-videos.ts';
import type { UsageRecord } from '../../../plugins/svc/modules/usage/ledger/usage-record.ts';
import { createRecordUsage } from '../../../plugins/svc/modules/usage/record-usage.ts';
import { ProviderError, type Provider } from '../../../plugins/svc/providers/provider.ts';
import { failureOf } from '../../helpers/failure-of.ts';
import { silentLog } from '../../helpers/silent-log.ts';
import { until } from '../../helpers/until.ts';
import { services } from './helpers.ts';

interface Script {
  readonly start?: Error;
  readonly check?: Error;
  readonly fetchStatus?: number;
  readonly save?: Error;
}

/** What the ledger records of a video that fails so. */
async function recordOf({ start, check, fetchStatus = 200, save }: Script): Promise<UsageRecord> {
  const records: UsageRecord[] = [];
  const provider: Provider = {
    id: 'filmer',
    label: 'Filmer',
    required: ['api_key'],
    settings: { type: 'object', properties: { video_model: { type: 'string', title: 'Video model' } } },
    videos: {
      takes: () => ({ sizes: [], seconds: [4, 12] }),
      start: ({ model, seconds = 6 }) =>
        start === undefined
          ? Promise.resolve({ name: 'operations/1', model, seconds, ignored: [] })
          : Promise.reject(start),
      check: () =>
        check === undefined
          ? Promise.resolve({ state: 'done', videos: [{ url: 'http://files.test/1.mp4' }], usage: null })
          : Promise.reject(check),
    },
    listModels: () => Promise.resolve([]),
  };
  const base = await services({ providers: [provider] });
  const body = Buffer.from('\0\0\0\x18ftypmp42', 'latin1');
  const fetch = (url: string) =>
    Promise.resolve({ status: fetchStatus, headers: {}, body, url, text: () => '', json: () => null });
  const media = { save: () => (save === undefined ? Promise.resolve({ id: 1 } as Media) : Promise.reject(save)) };
  const generate = createGenerateVideos({
    ...base,
    host: { ...base.host, content: { media }, http: { fetch } } as unknown as Parameters<
      typeof createGenerateVideos
    >[0]['host'],
    recordUsage: createRecordUsage({
      clock: base.clock,
      log: silentLog,
      ledger: {
        record: (record) => void records.push(record),
        price: () => Promise.resolve({ cost: 7, sandbox: false }),
        settle: () => Promise.resolve(),
      },
    }),
  });
  await failureOf(generate({ provider: 'filmer', model: 'wide', prompt: 'A lighthouse in a storm' }));
  await until('the record', () => records.length > 0);
  return records[0] as UsageRecord;
}

const failed = (kind: ProviderError['kind'], status: number | null): ProviderError =>
  new ProviderError({ kind, status, message: 'No.' });

describe('Videos that fail', () => {
  it('count their length once the provider has made them, or may have', async () => {
    const saving = new RestError({ code: 'rest_upload_file_too_big', status: 413, message: 'It is too large.' });
    for (const script of [{ fetchStatus: 404 }, { save: saving }, { check: failed('unreadable', 200) }])
      expect(await recordOf(script), JSON.stringify(script)).to.include({ seconds: 6 });
    expect(await recordOf({ start: failed('timeout', null) })).to.include({ seconds: 12 });
  });

  it('count what was sent if the provider did not make them', async () => {
    const { inputTokens, seconds } = await recordOf({ check: failed('rejected', 200) });
    expect([inputTokens > 0, seconds]).to.deep.equal([true, undefined]);
  });

  it('count nothing that was refused by status, or goes on', async () => {
    for (const script of [{ start: failed('rejected', 400) }, { check: failed('aborted', null) }]) {
      const { inputTokens, seconds = 0 } = await recordOf(script);
      expect([inputTokens, seconds], JSON.stringify(script)).to.deep.equal([0, 0]);
    }
  });
});

import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import type { AiServices } from '../../../plugins/svc/ai/ports.ts';
import { createEmbed } from '../../../plugins/svc/ai/embed.ts';
import { embedBatches } from '../../../plugins/svc/ai/embed.ts';
import { createRecordUsage } from '../../../plugins/svc/modules/usage/record-usage.ts';
import type { UsageRecord } from '../../../plugins/svc/modules/usage/ledger/usage-record.ts';
import {
  ProviderError,
  type EmbeddingRequest,
  type EmbeddingResult,
  type Provider,
} from '../../../plugins/svc/providers/provider.ts';
import { failureOf } from '../../helpers/failure-of.ts';
import { overloaded, scripted, services } from './helpers.ts';
import { silentLog } from '../../helpers/silent-log.ts';

type Answer = (request: EmbeddingRequest, signal: AbortSignal | undefined) => Promise<EmbeddingResult>;

const answer: Answer = ({ input, model }) =>
  Promise.resolve({
    embeddings: input.map((text) => [text.length, 1]),
    usage: { input_tokens: input.length, total_tokens: input.length },
    model,
    ignored: [],
  });

function embedding(embed: Answer): Provider & { readonly asked: EmbeddingRequest[] } {
  const asked: EmbeddingRequest[] = [];
  const { settings, ...rest } = scripted();
  const properties = { ...settings.properties, embedding_model: { type: 'string' as const, title: 'Embedding model' } };
  return {
    ...rest,
    settings: { ...settings, properties },
    asked,
    embeddings: {
      limits: { inputs: 2 },
      embed: (request, { signal }) => {
        asked.push(request);
        return embed(request, signal);
      },
    },
  };
}

async function setUp(
  embed: Answer = answer,
): Promise<{ provider: ReturnType<typeof embedding>; noted: UsageRecord[]; ai: AiServices }> {
  const provider = embedding(embed);
  const noted: UsageRecord[] = [];
  const base = await services({ providers: [provider] });
  const recordUsage = createRecordUsage({
    clock: base.clock,
    log: silentLog,
    ledger: {
      record: (usage: UsageRecord) => void noted.push(usage),
      price: () => Promise.resolve({ cost: 7, sandbox: false }),
      settle: () => Promise.resolve(),
    },
  });
  return { provider, noted, ai: { ...base, recordUsage } };
}

describe('embedding texts', () => {
  const input = ['a', 'bb', 'ccc', 'dddd', 'eeeee'];
  const call = { provider: 'scripted', model: 'm', input };

  it('splits them by the provider’s limits, keeps their order and sums the usage', async () => {
    const { provider, ai } = await setUp();
    const { embeddings, usage, ...rest } = await createEmbed(ai)(call);
    expect(embeddings).to.deep.equal([
      [1, 1],
      [2, 1],
      [3, 1],
      [4, 1],
      [5, 1],
    ]);
    expect(provider.asked.map((request) => request.input)).to.deep.equal([['a', 'bb'], ['ccc', 'dddd'], ['eeeee']]);
    expect([usage, rest]).to.deep.equal([
      { input_tokens: 5, total_tokens: 5 },
      { providerId: 'scripted', provider: 'Scripted', model: 'm', ignored: [], usageEstimated: false, cost: 7 },
    ]);
  });

  it('takes the saved embedding model where none is named, and says what is missing where none is saved', async () => {
    const { provider, ai } = await setUp();
    const saved = {
      ...ai,
      settings: { ...ai.settings, provider: () => Promise.resolve({ api_key: 'k', embedding_model: 'saved' }) },
    };
    await createEmbed(saved)({ ...call, model: ' ' });
    expect(provider.asked[0]?.model).to.equal('saved');
    expect(await failureOf(createEmbed(ai)({ ...call, model: undefined }))).to.include({
      code: 'rest_svc_provider_not_configured',
    });
  });

  it('refuses a provider without embeddings', async () => {
    const ai = await services({ providers: [scripted()] });
    expect(await failureOf(createEmbed(ai)(call))).to.include({ code: 'rest_invalid_param', status: 400 });
  });

  it('asks a few at a time and gives the others up when one fails for good', async () => {
    let given = 0;
    const { provider, ai } = await setUp((request, signal) => {
      if (request.input.includes('t0'))
        return Promise.reject(new ProviderError({ kind: 'rejected', status: 400, message: 'No.' }));
      return new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => {
          given += 1;
          reject(new ProviderError({ kind: 'aborted', message: 'given up.' }));
        });
      });
    });
    const many = Array.from({ length: 40 }, (_, place) => `t${String(place)}`);
    expect(await failureOf(createEmbed(ai)({ ...call, input: many }))).to.include({
      code: 'rest_svc_provider_rejected',
    });
    expect([provider.asked.length, given]).to.deep.equal([4, 3]);
  });

  it('tries a call again, within one time limit for all', async () => {
    let failures = 2;
    const { provider, ai } = await setUp((request, signal) =>
      failures-- > 0 ? Promise.reject(overloaded) : answer(request, signal),
    );
    expect((await createEmbed(ai)({ ...call, input: ['a'] })).embeddings).to.deep.equal([[1, 1]]);
    expect(provider.asked).to.have.length(3);
  });

  it('counts what a provider did not, and only that', async () => {
    const { ai } = await setUp(async (request, signal) => ({
      ...(await answer(request, signal)),
      ...(request.input.includes('a') && { usage: null }),
    }));
    const { usage, usageEstimated } = await createEmbed(ai)(call);
    expect([usage, usageEstimated]).to.deep.equal([{ input_tokens: 5, total_tokens: 5 }, true]);
    const { ai: zero } = await setUp(async (request, signal) => ({
      ...(await answer(request, signal)),
      usage: { input_tokens: 0, total_tokens: 0 },
    }));
    expect((await createEmbed(zero)(call)).usage.input_tokens).to.be.greaterThan(4);
  });

  it('holds a provider of another plugin to the contract', async () => {
    for (const embeddings of [[[1]], [[1], [1, 2]], [[], []], [[1], [Number.NaN]]]) {
      const { ai } = await setUp((request) =>
        Promise.resolve({ embeddings, usage: null, model: request.model, ignored: [] }),
      );
      expect(await failureOf(createEmbed(ai)({ ...call, input: ['a', 'b'] })), JSON.stringify(embeddings)).to.include({
        code: 'rest_svc_provider_error',
      });
    }
  });

  it('has the ledger take note of success and failure, once a call of ours', async () => {
    const origin = { module: 'rest', route: '/embeddings', botId: null };
    const good = await setUp();
    await createEmbed(good.ai)({ ...call, origin });
    expect(good.noted).to.deep.equal([
      {
        ...origin,
        kind: 'embedding',
        provider: 'scripted',
        model: 'm',
        inputTokens: 5,
        outputTokens: 0,
        tokenDetails: undefined,
        images: 0,
        seconds: undefined,
        size: undefined,
        quality: undefined,
        duration: 0,
        outcome: 'ok',
      },
    ]);
    const bad = await setUp(() =>
      Promise.reject(new ProviderError({ kind: 'auth', status: 401, message: 'Wrong key.' })),
    );
    await failureOf(createEmbed(bad.ai)({ ...call, origin }));
    // A failed call is recorded a little later than it fails.
    await setImmediate();
    expect(bad.noted.map(({ outcome, inputTokens }) => [outcome, inputTokens])).to.deep.equal([
      ['rest_svc_provider_auth_failed', 0],
    ]);
  });
});

describe('splitting texts into calls', () => {
  it('keeps below both limits, by bytes of UTF-8, and leaves one that is too long alone', () => {
    expect(embedBatches(['aa', 'bb', 'cc'], { inputs: 2 })).to.deep.equal([['aa', 'bb'], ['cc']]);
    expect(embedBatches(['ää', 'bb', 'c'], { inputs: 9, tokens: 6 })).to.deep.equal([['ää', 'bb'], ['c']]);
    expect(embedBatches(['a', 'bbbbbbbbb', 'c'], { inputs: 9, tokens: 4 })).to.deep.equal([
      ['a'],
      ['bbbbbbbbb'],
      ['c'],
    ]);
  });
});

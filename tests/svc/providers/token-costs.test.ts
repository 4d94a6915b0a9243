import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { createEmbed } from '../../../plugins/svc/ai/embed.ts';
import { createGenerateImages } from '../../../plugins/svc/ai/generate-images.ts';
import { createGenerateText } from '../../../plugins/svc/ai/generate-text.ts';
import { priceOf } from '../../../plugins/svc/modules/usage/ledger/call-price.ts';
import type { UsageRecord } from '../../../plugins/svc/modules/usage/ledger/usage-record.ts';
import { defaultPrices, defaultPricesDate } from '../../../plugins/svc/modules/usage/prices/default-prices.ts';
import { loadLibraryPrices } from '../../../plugins/svc/modules/usage/prices/library-prices.ts';
import { findPrice, priceTable, type Price, type PriceTable } from '../../../plugins/svc/modules/usage/prices/price.ts';
import { createRecordUsage } from '../../../plugins/svc/modules/usage/record-usage.ts';
import { schemaOf } from '../../conformance/image-upstream.ts';
import { upstreams } from '../../conformance/upstreams.ts';
import { upstreamThrough } from '../../helpers/upstream-http.ts';
import { services } from '../ai/helpers.ts';
import { answerOf, streamWith, type UsageCase } from './usage-answers.ts';
import { silentLog } from '../../helpers/silent-log.ts';

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../fixtures/providers/${name}.json`, import.meta.url), 'utf8'));
const cases = read('usage') as readonly UsageCase[];

/** Lines of a price in US dollars, as the provider publishes them: per million tokens, or per image. */
type PublishedPrice = Readonly<Record<string, string>>;
const published = read('prices') as Readonly<Record<string, Readonly<Record<string, PublishedPrice>>>>;
const priceFor = ({ provider, model, min_input_tokens: tokens }: UsageCase): PublishedPrice =>
  published[provider]![tokens === undefined ? model : `${model} from ${String(tokens)}`]!;

const million = 1_000_000n;

/** Decimal dollars as whole millionths. */
function millionths(dollars: string): bigint {
  const [whole = '0', decimals = ''] = dollars.split('.');
  return BigInt(whole) * million + BigInt(decimals.padEnd(6, '0'));
}

/** What the provider bills, in millionths of a US dollar, to a millionth of them. */
function billOf({ billed }: Pick<UsageCase, 'billed'>, prices: PublishedPrice): number {
  const sum = Object.entries(billed).reduce(
    (total, [line, count]) => total + BigInt(count) * millionths(prices[line]!) * (line === 'image' ? million : 1n),
    0n,
  );
  return Number(sum) / Number(million);
}

/** The prices of a site that has entered the published ones. */
function enteredPrices({ provider, model }: UsageCase): PriceTable {
  const entered = Object.entries(published[provider]!).flatMap(([name, lines]): Price[] => {
    const [entry, tokens] = name.split(' from ');
    if (entry !== model) return [];
    const figures = Object.fromEntries(Object.entries(lines).map(([line, dollars]) => [line, Number(dollars)]));
    return [
      { provider, model, ...(tokens !== undefined && { min_input_tokens: Number(tokens) }), ...figures } as Price,
    ];
  });
  return priceTable(entered, []);
}

/** The prices of a site without own ones, on the day when they were looked up. */
async function builtInTable(): Promise<PriceTable> {
  const { find } = await loadLibraryPrices();
  return priceTable([], defaultPrices, (model) => find(model, Date.parse(defaultPricesDate)));
}

/** Makes the call of a case through the service, whose provider gives the recorded answer. */
async function callOf(one: UsageCase, prices: PriceTable, streams: boolean) {
  const text = streams ? streamWith(one) : JSON.stringify(answerOf(one));
  const headers = { 'content-type': streams ? 'text/event-stream' : 'application/json' };
  const { settings } = upstreams.find(({ id }) => id === one.provider)!;
  const base = await services({ settings: { provider: () => Promise.resolve(settings) } });
  const records: UsageRecord[] = [];
  const ai = {
    ...base,
    upstream: upstreamThrough(() => Promise.resolve(new Response(text, { headers }))),
    recordUsage: createRecordUsage({
      clock: base.clock,
      log: silentLog,
      ledger: {
        record: (record) => void records.push(record),
        price: (usage) => Promise.resolve({ cost: priceOf(usage, prices), sandbox: false }),
        settle: () => Promise.resolve(),
      },
    }),
  };
  const { provider, model, kind, images: n } = one;
  const { cost } = await {
    text: () =>
      createGenerateText(ai)({
        provider,
        model,
        messages: [{ role: 'user', content: 'Say hello in French.' }],
        ...(streams && { onText: () => undefined }),
      }),
    image: () => {
      const host = { ...ai.host, content: {}, http: {} } as unknown as Parameters<
        typeof createGenerateImages
      >[0]['host'];
      return createGenerateImages({ ...ai, host })({ provider, model, prompt: 'A boat', n, form: 'b64_json' });
    },
    embedding: () => createEmbed(ai)({ provider, model, input: ['Hello'] }),
  }[kind]();
  return { cost, record: records[0] };
}

describe('What a call costs by the usage that its provider reports', () => {
  it('is tested for all eight providers, and for all that make images and embeddings', async () => {
    const { registry } = await services();
    const idsOf = (kind: UsageCase['kind']) => [
      ...new Set(cases.filter((one) => one.kind === kind).map(({ provider }) => provider)),
    ];
    const having = (capability: 'text' | 'images' | 'embeddings') =>
      registry.all().flatMap((provider) => (provider[capability] === undefined ? [] : [provider.id]));
    expect(having('text')).to.have.length(8);
    expect(idsOf('text')).to.have.members(having('text'));
    expect(idsOf('image')).to.have.members(having('images'));
    expect(idsOf('embedding')).to.have.members(having('embeddings'));
  });

  it('is tested with usage as the official descriptions of the interfaces define it', () => {
    const chat = ['openai-answers', 'CompletionUsage'] as const;
    const images = ['openai-images', 'ImageGenUsage'] as const;
    const official: Readonly<Record<string, readonly [file: string, name: string]>> = {
      'openai text': chat,
      'azure text': chat,
      'openai image': images,
      'azure image': images,
      'claude text': ['anthropic-answers', 'Usage'],
      'google text': ['gemini-answers', 'UsageMetadata'],
      'google image': ['gemini-answers', 'UsageMetadata'],
    };
    for (const { provider, kind, what, usage } of cases) {
      const [file, name] = official[`${provider} ${kind}`] ?? [];
      if (file === undefined || name === undefined || usage === null) continue;
      const validate = schemaOf(file, name);
      expect(validate(usage), `${what}: ${JSON.stringify(validate.errors)}`).to.equal(true);
    }
  });

  for (const one of cases)
    for (const streams of one.kind === 'text' ? [false, true] : [false])
      it(`differs by 0 from the bill: ${one.provider}, ${one.kind}${streams ? ', streamed' : ''}: ${one.what}`, async () => {
        const bill = Math.round(billOf(one, priceFor(one)));
        if (one.cost_reported !== undefined) expect(BigInt(bill)).to.equal(millionths(one.cost_reported));
        const { cost, record } = await callOf(one, enteredPrices(one), streams);
        expect(cost).to.equal(bill);
        expect([record?.inputTokens, record?.outputTokens]).to.deep.equal(one.tokens);
        expect(record?.tokenDetails ?? null).to.deep.equal(one.details);
        expect(record?.images).to.equal(one.images ?? 0);
        // The same by the built-in prices, if they have the model.
        const builtIn = await builtInTable();
        if (findPrice(one, builtIn) !== null) expect((await callOf(one, builtIn, streams)).cost).to.equal(bill);
      });

  it('is known by the built-in prices for a model of every provider', async () => {
    const builtIn = await builtInTable();
    const known = cases.filter((one) => findPrice(one, builtIn) !== null);
    expect(new Set(known.map(({ provider }) => provider))).to.deep.equal(new Set(Object.keys(published)));
  });

  it('is exact for any number of tokens', () => {
    for (const one of cases.filter(({ kind, min_input_tokens: tokens }) => kind === 'text' && tokens === undefined)) {
      const prices = priceFor(one);
      const table = enteredPrices(one);
      for (let count = 1; count < 400; count += 1) {
        const [inputTokens, cached, outputTokens] = [count * 7, count * 3, count * 5];
        const input =
          'cached_input' in prices ? { input: inputTokens - cached, cached_input: cached } : { input: inputTokens };
        const usage = { ...one, inputTokens, outputTokens, images: 0, tokenDetails: { cached_input: cached } };
        expect(priceOf(usage, table)).to.equal(billOf({ billed: { ...input, output: outputTokens } }, prices));
      }
    }
  });
});

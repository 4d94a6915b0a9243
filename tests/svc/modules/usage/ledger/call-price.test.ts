import { expect } from 'chai';
import { priceOf, type PricedUsage } from '../../../../../plugins/svc/modules/usage/ledger/call-price.ts';
import { createHooks } from '../../../../../host/hooks/hooks.ts';
import { createProviderRegistry } from '../../../../../plugins/svc/providers/registry.ts';
import { loadLibraryPrices } from '../../../../../plugins/svc/modules/usage/prices/library-prices.ts';
import { defaultPrices, defaultPricesDate } from '../../../../../plugins/svc/modules/usage/prices/default-prices.ts';
import { findPrice, priceTable, type Price } from '../../../../../plugins/svc/modules/usage/prices/price.ts';

const nothing: PricedUsage = { provider: 'acme', model: 'acme-1', inputTokens: 0, outputTokens: 0, images: 0 };
const of = (usage: Partial<PricedUsage>, ...prices: Price[]) =>
  priceOf({ ...nothing, ...usage }, priceTable(prices, []));
const timeOf = (day?: string) => (day === undefined ? undefined : Date.parse(day));
const acme = { provider: 'acme', model: 'acme-1' };

describe('the price of a call', () => {
  it('is tokens and images by their prices, in millionths of a dollar and parts of them', () => {
    expect(of({ inputTokens: 1_000_000 }, { ...acme, input: 2.5 })).to.equal(2_500_000);
    expect(of({ inputTokens: 3, outputTokens: 5 }, { ...acme, input: 0.15, output: 0.6 })).to.equal(3.45);
    expect(of({ inputTokens: 5 }, { ...acme, input: 0.02 })).to.equal(0.1);
    expect(of({ images: 3 }, { ...acme, image: 0.04 })).to.equal(120_000);
    expect(
      of({ inputTokens: 100, outputTokens: 1000, images: 2 }, { ...acme, input: 5, output: 30, image: 0.01 }),
    ).to.equal(50_500);
    // 0.15 + 2 * 0.075 + 12 * 0.6 is a little less than 7.5 in binary fractions.
    const tokens = { inputTokens: 3, outputTokens: 12, tokenDetails: { cached_input: 2 } };
    expect(of(tokens, { ...acme, input: 0.15, cached_input: 0.075, output: 0.6 })).to.equal(7.5);
  });

  it('is not known where a figure is missing that the call needs', () => {
    expect(of({ inputTokens: 1 })).to.equal(null);
    expect(of({ outputTokens: 1 }, { ...acme, input: 1 })).to.equal(null);
    expect(of({ inputTokens: 1 }, { ...acme, input: 1 })).to.equal(1);
    expect(of({ images: 1 }, { ...acme, input: 1, output: 1 })).to.equal(null);
  });

  it('is that of the tokens for images that are paid for as tokens', () => {
    expect(of({ images: 1, inputTokens: 10, outputTokens: 1000 }, { ...acme, input: 5, output: 30 })).to.equal(30_050);
  });

  it('is that of the images alone for a model with a price per image and none per token', () => {
    expect(of({ images: 2, inputTokens: 10, outputTokens: 1000 }, { ...acme, image: 0.04 })).to.equal(80_000);
    expect(of({ inputTokens: 10 }, { ...acme, image: 0.04 })).to.equal(null);
  });

  it('counts kinds of tokens at their own prices, or at that of the rest', () => {
    const tokenDetails = { cached_input: 600, cache_write: 100, reasoning: 50 };
    const usage = { inputTokens: 1000, outputTokens: 100, tokenDetails };
    expect(of(usage, { ...acme, input: 10, output: 20 })).to.equal(12_000);
    const kinds = { cached_input: 1, cache_write: 12.5, reasoning: 30 };
    expect(of(usage, { ...acme, input: 10, output: 20, ...kinds })).to.equal(300 * 10 + 600 + 1250 + 50 * 20 + 50 * 30);
    // Reported kinds that exceed all tokens never make a call cost more than its tokens.
    const excessive = { inputTokens: 10, tokenDetails: { cached_input: 8, audio_input: 8 } };
    expect(of(excessive, { ...acme, input: 10, cached_input: 1, audio_input: 100 })).to.equal(8 + 200);
  });

  it('is that of the day of the call', () => {
    const prices: Price[] = [
      { ...acme, input: 1, until: '2026-05-31' },
      { ...acme, input: 2, from: '2026-06-01', until: '2026-06-30' },
      { ...acme, input: 3, from: '2026-07-01' },
    ];
    const on = (day?: string) => priceOf({ ...nothing, inputTokens: 10 }, priceTable(prices, []), timeOf(day));
    expect(['2026-05-31', '2026-06-01', '2026-06-30', '2026-07-01'].map(on)).to.deep.equal([10, 20, 20, 30]);
    expect(on()).to.equal(null);
  });

  it('is that of its number of input tokens', () => {
    const prices: Price[] = [
      { ...acme, input: 1 },
      { ...acme, min_input_tokens: 100, input: 2 },
      { ...acme, min_input_tokens: 200, input: 3, from: '2026-06-01' },
      { provider: 'acme', model: '*', min_input_tokens: 10, input: 9 },
    ];
    const priceWith = (inputTokens: number, day?: string) =>
      priceOf({ ...nothing, inputTokens }, priceTable(prices, []), timeOf(day));
    expect([20, 99, 100, 199, 200].map((count) => priceWith(count))).to.deep.equal([20, 99, 200, 398, 400]);
    expect(priceWith(200, '2026-06-01')).to.equal(600);
  });

  it('of images is that of their size and quality, the most specific entry first', () => {
    const prices: Price[] = [
      { ...acme, image: 0.01 },
      { ...acme, quality: 'hd', image: 0.02 },
      { ...acme, size: '1024x1792', image: 0.03 },
      { ...acme, size: '1024x1792', quality: 'hd', image: 0.04 },
      { provider: '*', model: '*', size: '512x512', image: 0.05 },
    ];
    const image = (size?: string, quality?: string) => of({ images: 1, size, quality }, ...prices);
    expect([image(), image('1024x1024'), image('512x512', 'standard')]).to.deep.equal([10_000, 10_000, 10_000]);
    expect([image('1024x1024', 'hd'), image(undefined, 'hd')]).to.deep.equal([20_000, 20_000]);
    expect([image('1024x1792'), image('1024x1792', 'standard')]).to.deep.equal([30_000, 30_000]);
    expect(image('1024x1792', 'hd')).to.equal(40_000);
    expect(of({ images: 1, size: '512x512' }, { ...acme, size: '1024x1024', image: 1 })).to.equal(null);
  });

  it('of DALL-E is known by size and quality without own prices', () => {
    const dollars = (size?: string, quality?: string) =>
      priceOf(
        { ...nothing, provider: 'openai', model: 'dall-e-3', images: 1, size, quality },
        priceTable([], defaultPrices),
      );
    expect([
      dollars(),
      dollars('1024x1024', 'hd'),
      dollars('1792x1024', 'standard'),
      dollars('1024x1792', 'hd'),
    ]).to.deep.equal([40_000, 80_000, 80_000, 120_000]);
  });

  it('is nothing where nothing was used, whatever the prices', () => {
    expect(of({})).to.equal(0);
    expect(of({ inputTokens: 5 }, { ...acme, input: 0 })).to.equal(0);
  });
});

describe('the price table', () => {
  const found = (model: string, own: readonly Price[], builtIn: readonly Price[] = []) =>
    findPrice({ provider: 'acme', model }, priceTable(own, builtIn))?.input ?? null;

  it('takes the narrowest entry: a provider before any, a whole name before a part, a longer part before a shorter', () => {
    const prices = [
      { provider: '*', model: '*', input: 1 },
      { provider: '*', model: 'acme-1', input: 2 },
      { provider: 'acme', model: '*', input: 3 },
      { provider: 'acme', model: 'acme-*', input: 4 },
      { provider: 'acme', model: 'acme-1*', input: 5 },
      { provider: 'acme', model: 'acme-1', input: 6 },
    ];
    expect(found('acme-1', prices)).to.equal(6);
    expect(found('ACME-1-mini', prices)).to.equal(5);
    expect(found('acme-2', prices)).to.equal(4);
    expect(found('other', prices)).to.equal(3);
    expect(findPrice({ provider: 'else', model: 'acme-1' }, priceTable(prices, []))?.input).to.equal(2);
    expect(findPrice({ provider: 'else', model: 'x' }, priceTable(prices, []))?.input).to.equal(1);
  });

  it('lets any own price win over the built-in ones', () => {
    expect(found('acme-1', [{ provider: '*', model: '*', input: 9 }], [{ ...acme, input: 1 }])).to.equal(9);
    expect(found('acme-1', [{ provider: 'else', model: '*', input: 9 }], [{ ...acme, input: 1 }])).to.equal(1);
  });

  it('matches stars anywhere, as often as they stand, and takes no other character for a pattern', () => {
    const fits = (pattern: string, model: string) =>
      found(model, [{ provider: 'acme', model: pattern, input: 1 }]) !== null;
    expect(fits('*-mini-*', 'gpt-mini-2026')).to.equal(true);
    expect(fits('a*b*c', 'axxbyyc')).to.equal(true);
    expect(fits('a*a', 'a')).to.equal(false);
    expect(fits('ab*ba', 'aba')).to.equal(false);
    expect(fits('a.c', 'abc')).to.equal(false);
    expect(fits('', 'abc')).to.equal(false);
    expect(fits(`${'*a'.repeat(200)}`, 'a'.repeat(180))).to.equal(false);
  });

  it('has a built-in price for every model that a provider starts with, but for those that choose a model themselves', async () => {
    const registry = createProviderRegistry({ hooks: createHooks() });
    const models = registry.all().flatMap(({ id, settings }) =>
      ['model', 'embedding_model', 'image_model'].map((name) => ({
        provider: id,
        model: settings.properties[name]?.default,
      })),
    );
    const { find } = await loadLibraryPrices();
    const table = priceTable([], defaultPrices, find);
    const missing = models.filter(
      ({ provider, model }) =>
        typeof model === 'string' &&
        findPrice({ provider, model, time: Date.parse(defaultPricesDate) }, table) === null,
    );
    expect(missing).to.deep.equal([{ provider: 'openrouter', model: 'openrouter/auto' }]);
  });
});

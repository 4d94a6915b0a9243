import { expect } from 'chai';
import {
  loadLibraryPrices,
  type LibraryPrices,
} from '../../../../../plugins/svc/modules/usage/prices/library-prices.ts';

const time = Date.UTC(2026, 10, 29, 12);

describe('the prices of the package', () => {
  let prices: LibraryPrices;
  before(async () => {
    prices = await loadLibraryPrices();
  });
  const input = (provider: string, model: string, inputTokens?: number) =>
    prices.find({ provider, model, inputTokens }, time)?.input ?? null;

  it('are those of a name, of its dated and preliminary versions, in any case', () => {
    expect(input('openai', 'gpt-4.1')).to.equal(2);
    expect(input('openai', 'GPT-4.1-2025-04-14')).to.equal(2);
    expect(input('claude', 'claude-haiku-4-5-20251001')).to.equal(1);
    expect(input('google', 'gemini-3.1-flash-lite-preview')).to.equal(input('google', 'gemini-3.1-flash-lite'));
  });

  it('are not those of a relative whose name begins alike', () => {
    expect(input('google', 'gemini-3.5-flash-lite')).to.be.below(Number(input('google', 'gemini-3.5-flash')));
    for (const [provider, model] of [
      ['google', 'gemini-3.5-flash-lite-image'],
      ['claude', 'claude-sonnet-5-9-mini'],
      ['claude', 'claude-haiku-4-5-fast'],
      ['openai', 'gpt-4.1-nano-spoken'],
      ['xai', 'grok-4.5-mini'],
    ] as const)
      expect(input(provider, model), model).to.equal(null);
  });

  it('are not those of another vendor for the same name, but Azure charges what OpenAI and Anthropic do', () => {
    expect(input('openai', 'claude-haiku-4-5')).to.equal(null);
    expect(input('google', 'claude-haiku-4-5')).to.equal(null);
    expect(input('azure', 'gpt-4.1-nano')).to.equal(input('openai', 'gpt-4.1-nano'));
    expect(input('azure', 'claude-haiku-4-5')).to.equal(1);
    expect(input('azure', 'deepseek-chat')).to.equal(null);
    expect(input('elsewhere', 'gpt-4.1')).to.equal(null);
  });

  it('rise with the length of the prompt, for the whole call', () => {
    expect([199_999, 200_000].map((count) => input('xai', 'grok-4.5', count))).to.deep.equal([2, 4]);
    const longer = prices.find({ provider: 'xai', model: 'grok-4.5', inputTokens: 300_000 }, time);
    expect(longer).to.deep.include({ min_input_tokens: 200_000, output: 12 });
  });

  it('are those of the time of a call', () => {
    const before = prices.find({ provider: 'openai', model: 'gpt-5.6-luna' }, Date.UTC(2026, 6, 1))?.input;
    expect(before).to.be.above(Number(input('openai', 'gpt-5.6-luna')));
  });

  it('have the kinds of tokens that cost more or less', () => {
    const found = prices.find({ provider: 'claude', model: 'claude-haiku-4-5' }, time);
    expect(found).to.deep.equal({
      ...{ provider: 'claude', model: 'claude-haiku-4-5', input: 1, output: 5 },
      ...{ cached_input: 0.1, cache_write: 1.25, cache_write_1h: 2 },
    });
  });

  it('are each found again by the name and the length that the list says', () => {
    const listed = prices.list(time);
    expect(new Set(listed.map(({ provider }) => provider)).size).to.equal(7);
    for (const price of listed) {
      const { provider, model, min_input_tokens: inputTokens } = price;
      expect(prices.find({ provider, model, inputTokens }, time), `${provider} ${model}`).to.deep.equal({
        ...price,
        model: model.toLowerCase(),
      });
    }
  });
});

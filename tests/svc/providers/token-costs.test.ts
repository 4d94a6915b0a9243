import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { createHooks } from '../../../host/hooks/hooks.ts';
import type { TokenDetails } from '../../../plugins/svc/kit/token-details.ts';
import { priceOf } from '../../../plugins/svc/modules/usage/ledger/call-price.ts';
import { priceTable, type Price } from '../../../plugins/svc/modules/usage/prices/price.ts';
import type { TextResult } from '../../../plugins/svc/providers/provider.ts';
import { createProviderRegistry, type ProviderRegistry } from '../../../plugins/svc/providers/registry.ts';
import { connectionTo, requestTo } from '../../conformance/exchange.ts';
import { streamOf } from '../../conformance/upstream.ts';
import { upstreams } from '../../conformance/upstreams.ts';

interface UsageCase {
  readonly usage: Readonly<Record<string, unknown>>;
  /** Input and output. */
  readonly tokens: readonly [number, number];
  readonly details: TokenDetails | null;
  readonly price: Omit<Price, 'provider' | 'model'>;
  /** Millionths of a US dollar, computed by hand. */
  readonly cost: number;
}

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../fixtures/providers/${name}.json`, import.meta.url), 'utf8'));
const cases = Object.entries(read('usage') as Record<string, UsageCase>);

/** The recorded response of a provider with another usage. */
function answerWith(id: string, usage: UsageCase['usage']): string {
  const { answer } = read(id) as { answer: object };
  return JSON.stringify({ ...answer, [id === 'google' ? 'usageMetadata' : 'usage']: usage });
}

/** The recorded stream of a provider with another usage, which it reports as the provider does. */
function streamWith(id: string, usage: UsageCase['usage']): string {
  const stream = streamOf(id);
  const json = JSON.stringify(usage);
  if (id === 'google') return `${stream.trimEnd()}\n\ndata: {"usageMetadata":${json}}\n\n`;
  if (id === 'claude')
    return stream
      .replace(/"usage":\{[^}]*\}/, () => `"usage":${JSON.stringify({ ...usage, output_tokens: 1 })}`)
      .replace(/("type":"message_delta".*"usage":)\{[^}]*\}/, (_all, before: string) => {
        return `${before}{"output_tokens":${String(usage['output_tokens'])}}`;
      });
  return stream.replace('data: [DONE]', () => `data: {"choices":[],"usage":${json}}\n\ndata: [DONE]`);
}

describe('What a call costs by the usage that its provider reports', () => {
  let registry: ProviderRegistry;
  before(async () => {
    registry = createProviderRegistry({ hooks: createHooks() });
  });

  it('is tested for all eight providers', () => {
    expect(cases.map(([id]) => id).sort()).to.deep.equal([...new Set(upstreams.map(({ id }) => id))].sort());
  });

  for (const [id, { usage, tokens, details, price, cost }] of cases)
    for (const streams of [false, true]) {
      it(`is exact for ${id}${streams ? ', streamed' : ''}`, async () => {
        const upstream = upstreams.find((one) => one.id === id)!;
        const text = streams ? streamWith(id, usage) : answerWith(id, usage);
        const headers = { 'content-type': streams ? 'text/event-stream' : 'application/json' };
        const fetch: typeof globalThis.fetch = () => Promise.resolve(new Response(text, { headers }));
        const connection = connectionTo(upstream, { fetch });
        const { text: capability } = registry.get(id)!;
        const result: TextResult = streams
          ? await capability!.stream!(requestTo(upstream), connection, () => undefined)
          : await capability!.generate(requestTo(upstream), connection);
        expect([result.usage?.input_tokens, result.usage?.output_tokens]).to.deep.equal(tokens);
        expect(Object.keys(result.usage ?? {})).to.have.members(['input_tokens', 'output_tokens', 'total_tokens']);
        expect(result.tokenDetails ?? null).to.deep.equal(details);
        const prices = priceTable([{ provider: id, model: '*', ...price }], []);
        const used = { provider: id, model: 'any', inputTokens: tokens[0], outputTokens: tokens[1], images: 0 };
        expect(priceOf({ ...used, tokenDetails: result.tokenDetails }, prices)).to.equal(cost);
      });
    }
});

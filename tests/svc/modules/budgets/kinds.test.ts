import { expect } from 'chai';
import type { Database } from '../../../../host/database/database.ts';
import { createEmbed } from '../../../../plugins/svc/ai/embed.ts';
import { createGenerateImages, type ImageServices } from '../../../../plugins/svc/ai/generate-images.ts';
import { createGenerateText } from '../../../../plugins/svc/ai/generate-text.ts';
import { ProviderError, type EmbeddingRequest, type Provider } from '../../../../plugins/svc/providers/provider.ts';
import { withBudgetFallback } from '../../../../plugins/svc/modules/budgets/guard/budget-guard.ts';
import type { Budget } from '../../../../plugins/svc/modules/budgets/budget.ts';
import { describeDialects } from '../../../helpers/dialects.ts';
import { failureOf } from '../../../helpers/failure-of.ts';
import { services } from '../../ai/helpers.ts';
import { budget, countersOf, openNode } from './budgeted-node.ts';

const broken = new ProviderError({ kind: 'rejected', status: 400, message: 'no more.' });
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** A provider that streams two words and breaks off, embeds until a limit, and draws all but the last image. */
function acme(init: { readonly batches?: number; readonly images?: number } = {}): Provider {
  let batches = 0;
  let images = 0;
  return {
    id: 'acme',
    label: 'Acme',
    required: [],
    settings: { type: 'object', properties: {} },
    text: {
      params: {},
      generate: () =>
        Promise.resolve({
          content: 'Hello',
          usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
          model: 'acme-1',
          ignored: [],
        }),
      stream: (_request: unknown, _connection: unknown, hand: (piece: string) => void) => {
        hand('Hello there');
        return Promise.reject(broken);
      },
    },
    embeddings: {
      limits: { inputs: 100 },
      embed: ({ input, model }: EmbeddingRequest) => {
        batches += 1;
        if (batches > (init.batches ?? Infinity)) return Promise.reject(broken);
        return Promise.resolve({
          embeddings: input.map(() => [1, 2, 3]),
          usage: { input_tokens: input.length * 3, total_tokens: input.length * 3 },
          model,
          ignored: [],
        });
      },
    },
    images: {
      perCall: () => 1,
      generate: () => {
        images += 1;
        return images > (init.images ?? Infinity)
          ? Promise.reject(broken)
          : Promise.resolve({
              images: [{ bytes: png, mimeType: 'image/png' }],
              usage: null,
              model: 'drawn',
              ignored: [],
            });
      },
    },
  } as unknown as Provider;
}

async function open(database: Database, provider: Provider, budgets: readonly Budget[]) {
  const node = await openNode(database, { budgets });
  const base = await services({
    providers: [provider],
  });
  const ai = { ...base, recordUsage: node.recordUsage, withBudgetFallback };
  return { ...node, ai };
}

const three = [
  budget({ id: 'usd', unit: 'dollars', amount: 1 }),
  budget({ id: 'tokens', unit: 'tokens', amount: 100_000 }),
  budget({ id: 'calls', amount: 5 }),
];

async function counted(database: Database): Promise<Record<string, number>> {
  const counters = Object.entries(await countersOf(database));
  expect(counters.every(([, { reserved }]) => reserved === 0)).to.equal(true);
  return Object.fromEntries(counters.map(([name, { used }]) => [name.split('/')[0], used]));
}

describeDialects('budgets of every kind of call', (openDatabase) => {
  it('count 2,000 texts that were embedded as one call, by what the provider says they were', async () => {
    const database = await openDatabase();
    const { ai } = await open(database, acme(), three);
    const input = Array.from({ length: 2000 }, (_, index) => `Text ${String(index)}`);
    expect(await createEmbed(ai)({ provider: 'acme', model: 'embedded', input })).to.include({ cost: 6000 });
    expect(await counted(database)).to.deep.equal({ calls: 1, tokens: 6000, usd: 6000 });
  });

  it('count the texts that were embedded before one call failed', async () => {
    const database = await openDatabase();
    const { ai } = await open(database, acme({ batches: 4 }), three);
    const input = Array.from({ length: 2000 }, (_, index) => `Text ${String(index)}`);
    expect(await failureOf(createEmbed(ai)({ provider: 'acme', model: 'embedded', input }))).to.include({
      code: 'rest_svc_provider_rejected',
    });
    expect(await counted(database)).to.deep.equal({ calls: 1, tokens: 1200, usd: 1200 });
  });

  it('count the images that were made, and refuse more than there is money for', async () => {
    const database = await openDatabase();
    const { ai } = await open(database, acme({ images: 2 }), [budget({ id: 'usd', unit: 'dollars', amount: 0.2 })]);
    const generateImages = createGenerateImages(ai as unknown as ImageServices);
    const call = { provider: 'acme', model: 'drawn', prompt: 'A fox', form: 'b64_json' } as const;
    expect((await generateImages({ ...call, n: 3 })).images).to.have.length(2);
    expect(await counted(database)).to.deep.equal({ usd: 100_000 });
    expect(await failureOf(generateImages({ ...call, n: 3 }))).to.include({ code: 'rest_svc_budget_exhausted' });
  });

  it('count a text that broke off as far as it came', async () => {
    const database = await openDatabase();
    const { ai } = await open(database, acme(), three);
    const pieces: string[] = [];
    const call = {
      provider: 'acme',
      model: 'acme-1',
      messages: [{ role: 'user' as const, content: 'Hello' }],
      onText: (piece: string) => void pieces.push(piece),
    };
    expect(await failureOf(createGenerateText(ai)(call))).to.include({ code: 'rest_svc_provider_rejected' });
    const { calls, tokens = 0, usd = 0 } = await counted(database);
    expect([pieces, calls]).to.deep.equal([['Hello there'], 1]);
    const [row] = await database.knex('svc_usage').select('input_tokens', 'output_tokens', 'cost');
    expect([Number(row.output_tokens), tokens, usd]).to.deep.equal([2, Number(row.input_tokens) + 2, Number(row.cost)]);
  });

  it('fall back to a cheaper model, which counts but is not held back, and the answer names it', async () => {
    const database = await openDatabase();
    const provider = acme();
    Object.assign(provider.text ?? {}, { sees: (model: string) => model === 'acme-1' });
    const { ai, ledger } = await open(database, provider, [
      budget({ amount: 1, at_limit: 'fallback', fallback_provider: 'acme', fallback_model: 'cheap' }),
    ]);
    const generateText = createGenerateText(ai);
    const call = { provider: 'acme', model: 'acme-1', messages: [{ role: 'user' as const, content: 'Hello' }] };
    for (let count = 0; count < 3; count += 1) expect(await generateText(call)).to.include({ content: 'Hello' });
    await ledger.flush();
    expect((await countersOf(database))['main/all/calls 2026-01']).to.deep.equal({ used: 3, reserved: 0, refused: 2 });
    // The cheaper model cannot read the image: the caller learns when the budget resets.
    const images = [{ bytes: png, mimeType: 'image/png' }];
    const seen = { ...call, messages: [{ role: 'user' as const, content: 'What is it?', images }] };
    expect(await failureOf(generateText(seen))).to.include({ code: 'rest_svc_budget_exhausted' });
    const embed = createEmbed(ai);
    expect(await failureOf(embed({ provider: 'acme', model: 'embedded', input: ['a'] }))).to.include({
      code: 'rest_svc_budget_exhausted',
    });
  });
});

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { readRows } from './data.ts';
import { createMeasure, type Kind, type Measure } from './measure.ts';
import { startWorldSite, type WorldSite } from './site.ts';

/* Models of the vendors: what a call costs, and whether a retired one is offered. */

interface Model {
  readonly vendor: string;
  readonly id: string;
  readonly status?: string;
  readonly shutdown_date?: string;
  /** US dollars for a million tokens. */
  readonly cost?: { readonly input?: number; readonly output?: number };
  readonly modalities?: { readonly input: readonly string[]; readonly output?: readonly string[] };
}

/** Tokens of each kind that every call has. */
const tokens = 10_000;

export const kind: Kind = {
  title: 'models: prices and ends',
  async run(folder) {
    const models = readRows<Model>(folder, 'models.jsonl').filter(writesText);
    const upstream = await startCountingUpstream();
    const site = await startWorldSite();
    const priced = createMeasure('models with a price');
    const equal = createMeasure('prices that equal the list');
    const offered = createMeasure('models offered that are not retired');
    try {
      const vendors = [...new Set(models.map((model) => model.vendor))];
      await site.setProviders(Object.fromEntries(vendors.map((vendor) => [vendor, upstream.url])));
      for (const vendor of vendors) {
        const own = models.filter((model) => model.vendor === vendor);
        const costs = await costsOf(site, vendor, own);
        for (const { id, cost } of own.filter(hasPrice)) {
          const name = `${vendor}/${id}`;
          const dollars = costs.get(id) ?? null;
          priced.add(name, dollars === null ? 'no price' : null);
          const wanted = (((cost?.input ?? 0) + (cost?.output ?? 0)) * tokens) / 1_000_000;
          if (dollars !== null)
            equal.add(name, Math.abs(dollars - wanted) < 1e-6 ? null : `${dollars} for a call that costs ${wanted}`);
        }
      }
      await listOffered(site, models, offered);
    } finally {
      await site.stop();
      upstream.stop();
    }
    return [priced.row(), equal.row(), offered.row()];
  },
};

const writesText = ({ modalities }: Model): boolean => modalities?.output?.includes('text') ?? true;
const hasPrice = ({ cost }: Model): boolean => cost?.input !== undefined && cost.output !== undefined;

/** What a call of each model cost by the ledger, in US dollars; null without a price. */
async function costsOf(site: WorldSite, vendor: string, models: readonly Model[]): Promise<Map<string, number | null>> {
  for (const { id } of models) {
    const body = { provider: vendor, model: id, messages: [{ role: 'user', content: 'Hello' }] };
    const response = await site.call('svc/v1/generate', body);
    if (!response.ok) throw new Error(`${vendor}/${id}: status ${response.status}: ${await response.text()}`);
    await response.arrayBuffer();
  }
  const read = async () =>
    (await site.run('svc', 'usage', '--by=model', `--provider=${vendor}`)) as readonly {
      readonly model: string;
      readonly calls: number;
      readonly cost_usd: string | number | null;
    }[];
  const all = (totals: Awaited<ReturnType<typeof read>>): boolean =>
    totals.reduce((sum, { calls }) => sum + calls, 0) >= models.length;
  let totals = await read();
  // The ledger stores usage once a second.
  for (let tries = 0; !all(totals) && tries < 10; tries += 1) totals = await read();
  if (!all(totals)) throw new Error(`The ledger lacks calls of ${vendor}.`);
  return new Map(totals.map(({ model, cost_usd: cost }) => [model, cost === null ? null : Number(cost)]));
}

async function listOffered(site: WorldSite, models: readonly Model[], offered: Measure): Promise<void> {
  const today = new Date().toISOString().slice(0, 10);
  const ends = new Map(models.map((model) => [`${model.vendor}/${model.id}`, model.shutdown_date ?? '9999']));
  const { data } = (await (await site.call('svc-openai/v1/models')).json()) as {
    readonly data: { readonly id: string }[];
  };
  for (const { id } of data) {
    const end = ends.get(id) ?? '9999';
    offered.add(id, end > today ? null : `its vendor ended it on ${end}`);
  }
}

/** Answers every text call in the format of its path, with the same number of tokens each way. */
async function startCountingUpstream(): Promise<{ readonly url: string; stop(): void }> {
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { model = 'any' } = JSON.parse(body) as { readonly model?: string };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answerFor(request.url ?? '', model)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function answerFor(path: string, model: string): unknown {
  if (path.includes(':generateContent'))
    return {
      candidates: [{ content: { role: 'model', parts: [{ text: 'Yes.' }] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: tokens, candidatesTokenCount: tokens, totalTokenCount: 2 * tokens },
    };
  if (path.endsWith('/messages'))
    return {
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model, stop_reason: 'end_turn', stop_sequence: null },
      content: [{ type: 'text', text: 'Yes.' }],
      usage: { input_tokens: tokens, output_tokens: tokens },
    };
  if (path.endsWith('/responses'))
    return {
      ...{ id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model },
      output: [
        {
          ...{ id: 'm', type: 'message', role: 'assistant', status: 'completed' },
          content: [{ type: 'output_text', text: 'Yes.', annotations: [] }],
        },
      ],
      usage: { input_tokens: tokens, output_tokens: tokens, total_tokens: 2 * tokens },
    };
  return {
    ...{ id: 'c', object: 'chat.completion', created: 1, model },
    choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: tokens, completion_tokens: tokens, total_tokens: 2 * tokens },
  };
}

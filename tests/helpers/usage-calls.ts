import type { DatabaseApi } from '#plugin-api';
import { writeUsage } from '../../plugins/svc/modules/usage/ledger/usage-store.ts';
import { tokenKinds } from '../../plugins/svc/kit/token-details.ts';
import { kindColumn, type KindColumns } from '../../plugins/svc/modules/usage/ledger/usage-tables.ts';
import type { NewUsageRow } from '../../plugins/svc/modules/usage/ledger/usage-row.ts';

const day = 24 * 3600 * 1000;

const kinds: readonly Partial<NewUsageRow>[] = [
  {
    provider: 'openai',
    model: 'gpt-5.6-terra',
    kind: 'text',
    input_tokens: 1200,
    output_tokens: 340,
    cost: 8100,
    duration: 2100,
  },
  {
    provider: 'claude',
    model: 'claude-sonnet-5-5',
    kind: 'text',
    module: 'chatbots',
    route: null,
    bot_id: 3,
    input_tokens: 800,
    output_tokens: 500,
    cost: 6600,
    duration: 3400,
  },
  {
    provider: 'openai',
    model: 'text-embedding-3-small',
    kind: 'embedding',
    route: '/embeddings',
    input_tokens: 9000,
    cost: 180,
    duration: 420,
  },
  {
    provider: 'openai',
    model: 'gpt-image-2',
    kind: 'image',
    route: '/images/generate',
    input_tokens: 20,
    output_tokens: 1100,
    images: 1,
    cost: 33_100,
    duration: 14_000,
  },
  {
    provider: 'azure',
    model: 'a-deployment-with-a-rather-long-name-of-its-own-2026-11',
    kind: 'text',
    cost: null,
    input_tokens: 300,
    output_tokens: 100,
    duration: 900,
  },
  {
    provider: 'google',
    model: 'gemini-3.5-flash',
    kind: 'text',
    outcome: 'rest_svc_provider_rate_limited',
    duration: 300,
  },
];

/** Calls of the last weeks, a different number each day, for pages to show. */
export async function fillUsage(
  database: Pick<DatabaseApi, 'dialect' | 'knex' | 'direct'>,
  now: number,
): Promise<void> {
  for (let ago = 0; ago < 45; ago += 1) {
    const count = 5 + ((ago * 7) % 23);
    const rows = Array.from({ length: count }, (_, index): NewUsageRow => ({
      time: now - ago * day - index * 60_000,
      module: 'rest',
      route: '/generate',
      roles: null,
      bot_id: null,
      kind: 'text',
      provider: 'openai',
      model: 'gpt-5.6-terra',
      input_tokens: 0,
      output_tokens: 0,
      ...(Object.fromEntries(tokenKinds.map((kind) => [kindColumn(kind), 0])) as KindColumns),
      key_id: null,
      user_id: null,
      plugin: null,
      images: 0,
      cost: 0,
      duration: 0,
      outcome: 'ok',
      sandbox: index === 4 ? 1 : 0,
      reference: null,
      ...kinds[(index * 3 + ago) % kinds.length],
    }));
    await writeUsage(database, { rows, dayOf: (time) => new Date(time).toISOString().slice(0, 10) });
  }
}

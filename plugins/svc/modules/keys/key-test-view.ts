import { formatMoney, formFields, type JsonSchema } from '#plugin-api';
import { keyRoutes, type KeyRoute } from '../../kit/caller.ts';
import type { Explanation } from '../../kit/dry-run.ts';
import { deletedBotLabel, recordHints, type NamedRecord } from '../../admin-ui/form-values.ts';
import type { KeyPorts } from './module.ts';
import type { NamedKey } from './named-key.ts';

type Query = Readonly<Record<string, unknown>>;

/** The card "Test" of a key: a request to describe, and what a dry run (D31) says of it. Only reads. */
export async function keyTestView(
  key: NamedKey,
  {
    ports,
    query,
    bots,
    labels,
  }: {
    readonly ports: KeyPorts;
    readonly query: Query;
    readonly bots: readonly NamedRecord[];
    readonly labels: Readonly<Record<string, string>>;
  },
) {
  const text = (name: string): string => (typeof query[name] === 'string' ? query[name].trim().slice(0, 200) : '');
  const route = keyRoutes.find((known) => known === text('route'));
  const values = {
    route: route ?? key.scopes.routes[0],
    provider: text('provider'),
    model: text('model'),
    plugin: text('plugin'),
  };
  const bot = /^[1-9]\d{0,14}$/.test(text('bot')) ? Number(text('bot')) : undefined;
  const fields = formFields(schemaOf(labels), {
    values: { ...values, bot },
    errors: {},
    hints: {
      bot: {
        help: 'For chatbots, and routes in the formats of OpenAI and Anthropic.',
        ...recordHints(bots, bot, deletedBotLabel),
      },
      plugin: { help: 'Slug of the plugin that sends the request. Leave empty for others.' },
    },
    id: 'test',
  });
  const given = (value: string): string | undefined => (value === '' ? undefined : value);
  const explanation =
    route &&
    (await ports.explainKey({
      key: { id: key.id },
      route,
      bot,
      provider: given(values.provider),
      model: given(values.model),
      plugin: given(values.plugin),
    }));
  return { id: key.id, name: key.name, fields, result: explanation && resultView(explanation) };
}

function schemaOf(labels: Readonly<Record<string, string>>): JsonSchema {
  return {
    type: 'object',
    properties: {
      route: { type: 'string', title: 'Route', enum: [...keyRoutes] satisfies KeyRoute[], ui: { labels } },
      provider: { type: 'string', title: 'Provider' },
      model: { type: 'string', title: 'Model' },
      bot: { type: 'integer', title: 'Chatbot', minimum: 1 },
      plugin: { type: 'string', title: 'Plugin' },
    },
  };
}

function resultView({ allowed, message, rule, calls, cost_usd, error }: Explanation) {
  const cost = calls.length === 0 ? '' : cost_usd === null ? 'Unknown price' : formatMoney(cost_usd * 1_000_000);
  return {
    badge: allowed ? { text: 'Allowed', kind: 'success' } : { text: 'Refused', kind: 'error' },
    ...{ message, rule, cost, code: error?.code ?? '' },
    target: calls.map(({ provider, model }) => `${provider} / ${model}`).join(', '),
  };
}

import { argumentBounds, pagedResponse, pagingArguments, typedRoute, type JsonSchema } from '#plugin-api';
import { defineRoute } from '../../kit/route.ts';
import type { UsagePorts } from './module.ts';
import { filterNames, groupings, idFilters, periods } from './usage-filter.ts';

const day = { type: 'string', maxLength: 10, pattern: '^\\d{4}-\\d\\d-\\d\\d$' } as const;

const args = {
  by: { type: 'string', enum: groupings, default: 'provider', description: 'What calls are grouped by.' },
  period: {
    type: 'string',
    enum: periods.map(({ value }) => value),
    default: '30',
    description: 'Days, today included.',
  },
  from: { ...day, description: 'First day in the time zone of the site, instead of a period.' },
  to: { ...day, description: 'Last day. Default: today.' },
  ...pagingArguments,
  per_page: { ...pagingArguments.per_page, default: 100 },
} as const;

const filterArguments: Readonly<Record<string, JsonSchema>> = Object.fromEntries(
  filterNames.map((name) => [
    name,
    idFilters.includes(name)
      ? { type: 'integer', ...argumentBounds.id, minimum: 1, description: `Only calls with this ${name}.` }
      : name === 'sandbox'
        ? { type: 'string', enum: ['0', '1'], description: '1: only sandbox calls. 0: only other calls.' }
        : // PostgreSQL finds no text with a null character.
          {
            type: 'string',
            ...argumentBounds.key,
            pattern: '^[^\\u0000]*$',
            description: `Only calls with this ${name}.`,
          },
  ]),
);

const integer = (description: string): JsonSchema => ({ type: 'integer', description });

const schema = {
  type: 'object',
  title: 'usage',
  properties: {
    name: { type: 'string', description: 'Value of the grouping; 0 or empty for calls without one.' },
    calls: integer('Calls to providers.'),
    failed: integer('Calls that failed.'),
    input_tokens: integer('Input tokens.'),
    output_tokens: integer('Output tokens.'),
    cached_tokens: integer('Input tokens that the provider had cached.'),
    reasoning_tokens: integer('Output tokens for reasoning.'),
    images: integer('Images received.'),
    cost_usd: { type: ['number', 'null'], description: 'US dollars; null if no call has a price.' },
    without_price: integer('Calls without a price, whose cost is missing in the sum.'),
  },
} as const satisfies JsonSchema;

/** `GET svc-admin/v1/usage`: totals by key, user, plugin, module, chatbot and more, for administrators (D31, D32). */
export const usageRoute = defineRoute<UsagePorts>({
  path: '/usage',
  namespace: 'svc-admin/v1',
  access: 'public',
  define: (ports) =>
    typedRoute({
      methods: ['GET'],
      summary: 'Sums up the calls to providers.',
      description: 'Groups with the most calls first, days in their order.',
      schema,
      args: { ...args, ...filterArguments },
      security: ['session', 'application_password'],
      permission: ({ user }) => user.can('manage_options'),
      async handler(request) {
        const { readTotals } = await import('./usage-totals.ts');
        const { by, page, per_page: perPage } = request.params;
        const groups = await readTotals(ports, { by, given: request.params });
        const url = ports.host.rest.url(request.route);
        return pagedResponse(groups.slice((page - 1) * perPage, page * perPage), {
          total: groups.length,
          url,
          request,
        });
      },
    }),
});

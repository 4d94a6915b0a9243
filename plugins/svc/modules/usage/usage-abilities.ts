import { fillDefaults, type AbilitiesApi, type JsonSchema } from '#plugin-api';
import { totalsFlags, usageCommands } from './usage-commands.ts';
import type { UsagePorts } from './module.ts';

const inputSchema = {
  type: 'object',
  properties: totalsFlags,
  additionalProperties: false,
  default: {},
} as const satisfies JsonSchema;

/** `svc/usage` (D34): what `svc usage` prints. */
export function registerUsageAbilities(abilities: AbilitiesApi, ports: Pick<UsagePorts, 'host' | 'ledger'>): void {
  const [command] = usageCommands(ports);
  abilities.register('svc/usage', {
    label: 'Usage of AI',
    description:
      'Sums up calls to AI providers, their tokens and their cost by day, provider, model, module, kind, outcome, key, user, ' +
      'chatbot or plugin.',
    category: 'ai',
    inputSchema,
    outputSchema: {
      type: 'object',
      properties: { groups: { type: 'array', items: { type: 'object' } } },
      required: ['groups'],
    },
    permission: (_input, { user }) => user.can('manage_options'),
    execute: async (input) => {
      const flags = fillDefaults(inputSchema, input) as Readonly<Record<string, unknown>>;
      return { groups: await command?.run({ args: [], flags }) };
    },
    meta: { annotations: { readonly: true, destructive: false, idempotent: true }, public: true },
  });
}

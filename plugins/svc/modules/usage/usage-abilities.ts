import type { AbilitiesApi } from '#plugin-api';
import { totalsFlags, usageCommands } from './usage-commands.ts';
import type { UsagePorts } from './module.ts';

/** `svc/usage` (D34): what `svc usage` prints. */
export function registerUsageAbilities(abilities: AbilitiesApi, ports: Pick<UsagePorts, 'host' | 'ledger'>): void {
  const [command] = usageCommands(ports);
  abilities.register('svc/usage', {
    label: 'Usage of AI',
    description:
      'Sums up calls to AI providers, their tokens and their cost by day, provider, model, module, kind, outcome, key, user, ' +
      'chatbot or plugin.',
    category: 'ai',
    inputSchema: {
      type: 'object',
      properties: totalsFlags,
      additionalProperties: false,
      default: {},
    },
    outputSchema: {
      type: 'object',
      properties: { groups: { type: 'array', items: { type: 'object' } } },
      required: ['groups'],
    },
    permission: (_input, { user }) => user.can('manage_options'),
    execute: async (flags) => ({ groups: await command?.run({ args: [], flags }) }),
    meta: { annotations: { readonly: true, destructive: false, idempotent: true }, public: true },
  });
}

import type { AbilitiesApi, JsonSchema } from '#plugin-api';
import { queueStatus } from './commands/queue-commands.ts';
import type { Webhooks } from './webhooks.ts';

const count = (description: string): JsonSchema => ({ type: 'integer', minimum: 0, description });
const ids = (description: string): JsonSchema => ({ type: 'array', items: { type: 'string' }, description });

/** `svc/webhook-status` (D34): what `svc queue status` prints. */
export function registerWebhookAbilities(abilities: AbilitiesApi, webhooks: Webhooks): void {
  abilities.register('svc/webhook-status', {
    label: 'Webhook status',
    description: 'Returns the state of the event webhooks: waiting and failed deliveries, and endpoints that get none.',
    category: 'ai',
    outputSchema: {
      type: 'object',
      properties: {
        webhooks: { type: 'string', enum: ['on', 'off'] },
        endpoints: count('Number of endpoints.'),
        waiting: count('Deliveries that wait.'),
        oldest_seconds: count('Age of the oldest of them, in seconds.'),
        failed: count('Failed deliveries that were not cleared.'),
        last_failed: { type: 'array', items: { type: 'object' }, description: 'At most five, the last first.' },
        held: ids('Endpoints whose deliveries are held.'),
        paused: ids('Endpoints that are paused after failures.'),
      },
      required: ['webhooks', 'endpoints', 'waiting', 'oldest_seconds', 'failed', 'last_failed', 'held', 'paused'],
    },
    permission: (_input, { user }) => user.can('manage_options'),
    execute: () => queueStatus(webhooks),
    meta: { annotations: { readonly: true, destructive: false, idempotent: true }, public: true },
  });
}

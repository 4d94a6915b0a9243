import { argumentBounds, restError, type AbilitiesApi } from '#plugin-api';
import type { Loaded } from '../../kit/lazy.ts';
import type { AutomationPorts, Automations } from './automations.ts';
import { listTasks } from './commands/task-commands.ts';

/** `svc/list-automations` and `svc/run-automation` (D34). */
export function registerAutomationAbilities({ host, load }: Loaded<AutomationPorts, Automations>): void {
  const { abilities } = host;
  abilities.register('svc/list-automations', {
    label: 'List automations',
    description: 'Returns the automations of the site with their ids, states, schedules and numbers of items.',
    category: 'ai',
    outputSchema: {
      type: 'object',
      properties: {
        automations: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              id: { type: 'integer' },
              name: { type: 'string' },
              type: { type: 'string' },
              status: { type: 'string', enum: ['active', 'paused'] },
            },
            required: ['id', 'name', 'status'],
          },
        },
      },
      required: ['automations'],
    },
    permission: (_input, { user }) => user.can('manage_options'),
    execute: async () => ({ automations: await listTasks(await load()) }),
    meta: { annotations: { readonly: true, destructive: false, idempotent: true }, public: true },
  });
  registerRun(abilities, load);
}

function registerRun(abilities: AbilitiesApi, load: () => Promise<Automations>): void {
  abilities.register('svc/run-automation', {
    label: 'Run automation',
    description:
      'Queues the new items of an automation now. The site processes them in the background: that costs what the providers ' +
      'charge, and may overwrite posts. Call svc/list-automations for ids and progress.',
    category: 'ai',
    inputSchema: {
      type: 'object',
      properties: { id: { type: 'integer', ...argumentBounds.id, minimum: 1, description: 'Id of the automation.' } },
      required: ['id'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: {
        found: { type: 'integer', description: 'Entries of the source.' },
        added: { type: 'integer', description: 'New items in the queue.' },
        message: { type: 'string' },
      },
      required: ['found', 'added', 'message'],
    },
    permission: (_input, { user }) => user.can('manage_options'),
    async execute({ id }) {
      const { runs } = await load();
      const { state, found, added, message } = await runs.run(id, 'ability');
      if (state === 'failed')
        throw restError(
          502,
          'rest_svc_task_source_failed',
          `The source of the automation could not be read: ${message}`,
        );
      return { found, added, message };
    },
    meta: { annotations: { readonly: false, destructive: true, idempotent: false }, public: true },
  });
}

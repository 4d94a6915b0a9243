import { argumentBounds, RestResponse } from '#plugin-api';
import type { RestApi, Undo } from '#plugin-api';
import type { HookDescription } from './registry.ts';

export interface HooksRouteDependencies {
  readonly hooks: { describe(): HookDescription[] };
}

const callbackSchema = {
  type: 'object',
  properties: {
    priority: { type: 'integer' },
    kind: { type: 'string', enum: ['filter', 'action'] },
    owner: { type: 'string', description: 'Slug of the plugin that added it, or host.' },
    callback: { type: 'string', description: 'Name of the function.' },
    position: { type: ['string', 'null'], description: 'File and line that added it.' },
    acceptedArgs: { type: ['integer', 'null'], description: 'null means all.' },
  },
} as const;

const hookSchema = {
  title: 'hook',
  type: 'object',
  properties: {
    name: { type: 'string' },
    filters: { type: 'integer', description: 'How often it ran as a filter since the process started.' },
    actions: { type: 'integer', description: 'How often it ran as an action.' },
    callbacks: { type: 'array', items: callbackSchema, description: 'In the order they run.' },
  },
} as const;

/** `GET /host/v1/hooks`: all hooks of this process that ran or have callbacks. Requires `manage_options`. */
export function addHooksRoute(rest: RestApi, { hooks }: HooksRouteDependencies): Undo {
  return rest.registerRoute<{ readonly search?: string; readonly owner?: string; readonly callbacks?: boolean }>(
    'host/v1',
    '/hooks',
    {
      summary: 'Lists the hooks that ran or have callbacks, with owners and counts.',
      args: {
        search: {
          type: 'string',
          ...argumentBounds.line,
          description: 'Part of the name of a hook, callback or owner.',
        },
        owner: {
          type: 'string',
          ...argumentBounds.key,
          description: 'Return only hooks with a callback of this plugin, or of `host`.',
        },
        callbacks: { type: 'boolean', description: 'Return only hooks that have callbacks, or only those without.' },
      },
      schema: hookSchema,
      responses: {
        200: {
          description: 'Matching hooks, by name.',
          schema: { type: 'array', items: hookSchema },
          headers: { 'X-WP-Total': 'Number of hooks.', 'X-WP-TotalPages': 'Always 1.' },
        },
      },
      permission: ({ user }) => user.can('manage_options'),
      handler: ({ params: { search = '', owner, callbacks: wanted } }) => {
        const found = findHooks(hooks.describe(), search).filter(
          ({ callbacks }) =>
            (owner === undefined || callbacks.some((each) => each.owner === owner)) &&
            (wanted === undefined || callbacks.length > 0 === wanted),
        );
        return new RestResponse({
          body: found,
          headers: { 'X-WP-Total': String(found.length), 'X-WP-TotalPages': '1' },
        });
      },
    },
  );
}

/** Finds hooks whose name, owner, callback or position contains the text, ignoring case. */
export function findHooks(described: readonly HookDescription[], search: string): HookDescription[] {
  const text = search.trim().toLowerCase();
  const has = (name: string): boolean => name.toLowerCase().includes(text);
  return described.filter(
    ({ name, callbacks }) =>
      has(name) || callbacks.some((each) => has(each.owner) || has(each.callback) || has(each.position ?? '')),
  );
}

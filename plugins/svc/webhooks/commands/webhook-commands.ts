import type { CliCommand } from '#plugin-api';
import { saveEndpoint } from '../pages/endpoint-save.ts';
import { sendTest } from '../pages/endpoint-test.ts';
import type { WebhookPagesContext } from '../pages/pages-context.ts';
import { endpointRecord, readEndpointObject } from './endpoint-record.ts';

const endpointFlag = {
  json: {
    type: 'object',
    description:
      'The endpoint: {"name", "url", "enabled", "events", "internal", "secret", "headers", "standard_webhooks", "redirects", "long_tail", "ordered"}; update: with "id".',
  },
} as const;
const idArgument = { name: 'id', description: 'Id of the endpoint, see svc webhook list.' };

/** `svc webhook on|off|list|add|update|remove|test|resume`, `svc webhook secret set|rotate|clear`. */
export function webhookCommands(context: WebhookPagesContext): CliCommand[] {
  const { webhooks } = context;
  const turn = (on: boolean) => async () => {
    await webhooks.setEnabled(on);
    return { webhooks: on ? 'on' : 'off' };
  };
  return [
    { name: 'svc webhook on', description: 'Send event webhooks.', run: turn(true) },
    { name: 'svc webhook off', description: 'Send no event webhooks, whatever the endpoints say.', run: turn(false) },
    ...endpointCommands(context),
    ...deliveryCommands(context),
    ...secretCommands(context),
  ];
}

function endpointCommands(context: WebhookPagesContext): CliCommand[] {
  const { webhooks } = context;
  return [
    {
      name: 'svc webhook list',
      description: 'List the endpoints that events are sent to.',
      run: async () => {
        const [{ endpoints }, circuits] = [await webhooks.settings(), await webhooks.deliveryLog.circuits()];
        return endpoints.map((endpoint) => ({
          ...endpointRecord(endpoint),
          paused:
            circuits.find(({ endpointId, pausedAt }) => endpointId === endpoint.id && pausedAt !== null)?.reason ??
            null,
        }));
      },
    },
    {
      name: 'svc webhook add',
      description: 'Add an endpoint and print it with its id.',
      flags: endpointFlag,
      run: async ({ flags }) => {
        const { id, ...input } = readEndpointObject(readJsonFlag(flags, 'add'));
        if (id !== undefined)
          throw new Error('A new endpoint gets its id from the service. To change one, use svc webhook update.');
        return savedRecord(await saveEndpoint(context, input));
      },
    },
    {
      name: 'svc webhook update',
      description: 'Change the endpoint that "id" names, and print it; what is not named stays.',
      flags: endpointFlag,
      run: async ({ flags }) => {
        const input = readEndpointObject(readJsonFlag(flags, 'update'));
        if (input.id === undefined)
          throw new Error('Name the endpoint to change: "id" in the object. See svc webhook list.');
        return savedRecord(await saveEndpoint(context, input));
      },
    },
    {
      name: 'svc webhook remove',
      description: 'Delete an endpoint. The log of what was sent to it stays.',
      args: [idArgument],
      run: async ({ args: [id = ''] }) => {
        if (!(await webhooks.removeEndpoint(id)))
          throw new Error(`There is no webhook endpoint with the id ${id}. See svc webhook list.`);
        return { id, removed: true };
      },
    },
  ];
}

function deliveryCommands(context: WebhookPagesContext): CliCommand[] {
  return [
    {
      name: 'svc webhook test',
      description: 'Send the example of an event to an endpoint, and wait for the outcome.',
      args: [idArgument],
      flags: {
        event: { type: 'string', description: 'Name of the event. Default: the first the endpoint is subscribed to.' },
      },
      run: async ({ args: [id = ''], flags: { event } }) => {
        const {
          delivered,
          message,
          delivery,
          event: sent,
        } = await sendTest(context, id, typeof event === 'string' ? event : undefined);
        if (!delivered) throw new Error(message);
        return {
          delivered,
          event: sent,
          delivery_id: delivery?.id ?? null,
          status: delivery?.httpStatus ?? null,
          duration_ms: delivery?.duration ?? null,
          attempts: delivery?.attempts ?? 0,
        };
      },
    },
    {
      name: 'svc webhook resume',
      description: 'End the pause of an endpoint that has been failing: what waits for it is sent.',
      args: [idArgument],
      run: async ({ args: [id = ''] }) => ({ id, resumed: await context.webhooks.deliveryLog.resume(id) }),
    },
  ];
}

/** `svc webhook secret set|rotate|clear`. */
function secretCommands({ webhooks }: WebhookPagesContext): CliCommand[] {
  return [
    {
      name: 'svc webhook secret set',
      description: 'Sign deliveries with a secret of your own.',
      args: [{ name: 'value', description: 'Any text; used as it is.' }],
      run: async ({ args: [value = ''] }) => {
        await webhooks.setSecret(value);
        return { set: true, secret: (await webhooks.settings()).secret };
      },
    },
    {
      name: 'svc webhook secret rotate',
      description:
        'Make a new signing secret and print it, the only time it can be read. Where there is one, both sign for a while.',
      flags: {
        overlap: {
          type: 'integer',
          minimum: 0,
          maximum: 2_592_000,
          default: 86_400,
          description:
            'Seconds in which the header of Standard Webhooks is signed with the old secret too. Default 86400, a day.',
        },
      },
      run: async ({ flags: { overlap } }) => {
        const secret = await webhooks.rotateSecret(typeof overlap === 'number' ? overlap : undefined);
        const until = (await webhooks.settings()).previousSecretUntil;
        return { secret, previous_until: until === null ? null : new Date(until).toISOString() };
      },
    },
    {
      name: 'svc webhook secret clear',
      description: 'Send without signature from now on.',
      run: async () => {
        await webhooks.clearSecret();
        return { cleared: true };
      },
    },
  ];
}

function readJsonFlag({ json }: Readonly<Record<string, unknown>>, command: string): Readonly<Record<string, unknown>> {
  if (typeof json === 'object' && json !== null) return json as Readonly<Record<string, unknown>>;
  throw new Error(
    `Write the endpoint as JSON, for example: svc webhook ${command} --json '{${command === 'update' ? '"id": "...", ' : ''}"name": "My app", "url": "https://example.com/hooks", "enabled": true, "events": ["form.submitted"]}'`,
  );
}

function savedRecord({ endpoint, warning }: Awaited<ReturnType<typeof saveEndpoint>>): Record<string, unknown> {
  return { ...endpointRecord(endpoint), ...(warning !== null && { warning }) };
}

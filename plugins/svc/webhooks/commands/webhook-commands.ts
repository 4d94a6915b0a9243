import type { CliCommand } from '#plugin-api';
import { saveEndpoint } from '../pages/endpoint-save.ts';
import { sendTest } from '../pages/endpoint-test.ts';
import type { WebhookPagesContext } from '../pages/pages-context.ts';
import { endpointRecord, readEndpointObject } from './endpoint-record.ts';

const endpointFlag = {
  json: {
    type: 'object',
    writeOnly: true,
    description:
      'The endpoint: {"name", "url", "enabled", "events", "internal", "secret", "headers", "standard_webhooks", ' +
      '"redirects", "long_tail", "ordered"}; update: with "id".',
  },
} as const;
const idArgument = { name: 'id', description: 'Id of the endpoint, see svc webhook list.' };

/** `svc webhook on|off|list|add|update|remove|test|resume`, `svc webhook secret set|rotate|clear`. */
export function webhookCommands(context: WebhookPagesContext): CliCommand[] {
  const { webhooks } = context;
  const setEnabled = (on: boolean) => async () => {
    await webhooks.setEnabled(on);
    return { webhooks: on ? 'on' : 'off' };
  };
  return [
    { name: 'svc webhook on', description: 'Turn event webhooks on.', run: setEnabled(true) },
    { name: 'svc webhook off', description: 'Turn event webhooks off for all endpoints.', run: setEnabled(false) },
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
      description: 'List the endpoints.',
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
          throw new Error('The service generates the id of a new endpoint. To change one, use svc webhook update.');
        return savedRecord(await saveEndpoint(context, input));
      },
    },
    {
      name: 'svc webhook update',
      description: 'Change the endpoint with the given "id" and print it. Omitted members stay.',
      flags: endpointFlag,
      run: async ({ flags }) => {
        const input = readEndpointObject(readJsonFlag(flags, 'update'));
        if (input.id === undefined) throw new Error('Set "id" to the endpoint to change. See svc webhook list.');
        return savedRecord(await saveEndpoint(context, input));
      },
    },
    {
      name: 'svc webhook remove',
      description: 'Delete an endpoint. Its deliveries stay in the log.',
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
      description: 'Send the example of an event to an endpoint and wait for the result.',
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
      description: 'Resume a paused endpoint and send its pending events.',
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
      description: 'Sign deliveries with your own secret.',
      args: [{ name: 'value', description: 'Any text: - to read standard input, @file, or the value.', secret: true }],
      run: async ({ args: [value = ''] }) => {
        await webhooks.setSecret(value);
        return { set: true, secret: (await webhooks.settings()).secret };
      },
    },
    {
      name: 'svc webhook secret rotate',
      description:
        'Generate a new signing secret and print it. It cannot be read again. An existing secret also signs for a while.',
      flags: {
        overlap: {
          type: 'integer',
          minimum: 0,
          maximum: 2_592_000,
          default: 86_400,
          description:
            'Seconds in which the Standard Webhooks header also carries the old signature. Default 86400, a day.',
        },
      },
      run: async ({ flags: { overlap } }) => {
        const secret = await webhooks.rotateSecret(Number(overlap));
        const until = (await webhooks.settings()).previousSecretUntil;
        return { secret, previous_until: until === null ? null : new Date(until).toISOString() };
      },
    },
    {
      name: 'svc webhook secret clear',
      description: 'Send deliveries without a signature from now on.',
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
    `Write the endpoint as JSON, for example: svc webhook ${command} --json '{${command === 'update' ? '"id": "...", ' : ''}` +
      `"name": "My app", "url": "https://example.com/hooks", "enabled": true, "events": ["form.submitted"]}'`,
  );
}

function savedRecord({ endpoint, warning }: Awaited<ReturnType<typeof saveEndpoint>>): Record<string, unknown> {
  return { ...endpointRecord(endpoint), ...(warning !== null && { warning }) };
}

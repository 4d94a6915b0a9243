import { isRecord, type CliCommand } from '#plugin-api';
import type { EventContext } from '../event.ts';
import type { WebhookPagesContext } from '../pages/pages-context.ts';

/** `svc event list|emit`. */
export function eventCommands({ webhooks }: WebhookPagesContext): CliCommand[] {
  return [
    {
      name: 'svc event list',
      description: 'List all events.',
      run: async () =>
        Promise.resolve(
          webhooks.catalogue
            .list()
            .map(({ name, module, queued, description }) => ({ name, module, queued, description })),
        ),
    },
    {
      name: 'svc event emit',
      description: 'Emit an event after checking its data against the schema.',
      args: [{ name: 'name', description: 'Name of the event, see svc event list.' }],
      flags: {
        json: {
          type: 'object',
          description:
            '{"data": {...}, "context": {"module", "origin", "resource", "meta", "key"}}; context is optional.',
        },
      },
      run: async ({ args: [name = ''], flags }) => {
        const { data, context } = readEvent(name, flags['json']);
        const known = webhooks.catalogue.resolveName(name);
        if (known === null) throw new Error(`There is no event named '${name}'. See svc event list.`);
        const errors = webhooks.catalogue.findErrors(known, data);
        if (errors.length > 0) throw new Error(errors.join(' '));
        const result = await webhooks.emit(known, data, context);
        if (result.error !== null) throw new Error(result.error);
        const { envelope, deliveries, queued, delivered, failed } = result;
        return {
          event: known,
          id: envelope?.id ?? null,
          idempotency_key: envelope?.idempotency_key ?? null,
          deliveries,
          queued,
          delivered,
          failed,
        };
      },
    },
  ];
}

type Json = Readonly<Record<string, unknown>>;

function readEvent(name: string, json: unknown): { readonly data: Json; readonly context: EventContext } {
  if (!isRecord(json) || !isRecord(json['data']))
    throw new Error(
      `Write the event as JSON, for example: svc event emit ${name} --json '{"data": {...}}'. GET {base}/events shows an example of each.`,
    );
  const { data, context = {}, ...others } = json;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw new Error(`An event is {"data", "context"}; "${unknown}" is neither. Put it into data.`);
  return { data: data as Json, context: readContext(context) };
}

/** Checks the types of the context. @throws for unknown or invalid members; a transaction cannot be passed. */
function readContext(context: unknown): EventContext {
  if (!isRecord(context)) throw new Error('"context" must be an object.');
  for (const [name, value] of Object.entries(context)) {
    const fits =
      name === 'module' || name === 'origin'
        ? typeof value === 'string'
        : name === 'resource'
          ? isResource(value)
          : name === 'meta'
            ? isRecord(value)
            : name === 'key'
              ? Array.isArray(value) && value.every(isId)
              : undefined;
    if (fits === undefined)
      throw new Error(`"context" has no member "${name}". Use module, origin, resource, meta, key.`);
    if (!fits) throw new Error(`"${name}" of the context is invalid: ${JSON.stringify(value)}.`);
  }
  return context;
}

function isId(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number';
}

function isResource(value: unknown): boolean {
  return (
    isRecord(value) &&
    isId(value['id']) &&
    (value['type'] === undefined || typeof value['type'] === 'string') &&
    (value['label'] === undefined || typeof value['label'] === 'string')
  );
}

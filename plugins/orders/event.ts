import type { HostApi } from '#plugin-api';
import type { Order } from './orders.ts';

const eventName = 'orders.order_placed';

/** The event that webhooks of the AI service can send. Without that service nothing happens. */
export function registerEvent(host: HostApi): void {
  host.hooks.addFilter('svc_event_schemas', (events) => [
    ...events,
    {
      name: eventName,
      group: 'Orders',
      module: 'orders',
      plugin: { slug: host.plugin.slug, version: host.plugin.version },
      origins: ['rest'],
      resource: 'order',
      description: 'An order was placed.',
      queued: true,
      schema: {
        type: 'object',
        required: ['order'],
        properties: {
          order: {
            type: 'object',
            required: ['id', 'total'],
            properties: { id: { type: 'integer' }, total: { type: 'integer', description: 'Cents.' } },
          },
        },
      },
      example: { order: { id: 1, total: 1250 } },
      naturalIds: ({ order }: { order: { id: number } }) => [order.id],
      describe: ({ order }: { order: { id: number } }) => ({ id: order.id, label: `Order ${order.id}` }),
    },
  ]);
}

/** Inside a transaction, the event is sent only if that commits. */
export async function emitPlaced(host: HostApi, { id, total }: Order): Promise<void> {
  await host.hooks.doActionAsync('svc_event_emit', eventName, { order: { id, total } });
}

import type { HostApi } from '#plugin-api';
import { states, type Orders, type OrderState } from './orders.ts';

export function registerCommands(host: HostApi, orders: Orders): void {
  host.cli.addCommand({
    name: 'orders list',
    description: 'Lists the latest orders.',
    flags: {
      state: { type: 'string', enum: states, description: 'Only orders in this state.' },
      limit: { type: 'integer', minimum: 1, maximum: 1_000, description: 'Number of orders. Default 20.' },
    },
    run: ({ flags }) => {
      const { state, limit = 20 } = flags as { readonly state?: OrderState; readonly limit?: number };
      return orders.find({ limit, ...(state && { state }) });
    },
  });
}

import type { HostApi } from '#plugin-api';
import type { Orders } from './orders.ts';

/** The latest orders. */
export function registerPage(host: HostApi, orders: Orders): void {
  const { __ } = host.i18n;
  host.admin.addPage({
    slug: 'orders',
    title: __('Orders'),
    menu: __('Orders'),
    icon: 'orders/icons.svg#parcel',
    render: async () => ({
      template: 'orders/orders',
      data: {
        count: await orders.count(),
        orders: (await orders.find({ limit: 10 })).map((order) => ({
          ...order,
          total: (order.total / 100).toFixed(2),
          stateLabel: order.state === 'sent' ? __('Sent') : __('Waiting'),
          stateKind: order.state === 'sent' ? 'success' : 'info',
        })),
      },
    }),
  });
}

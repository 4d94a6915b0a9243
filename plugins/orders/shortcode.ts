import type { HostApi } from '#plugin-api';
import type { Orders } from './orders.ts';

/** `[orders_count]` in a post. What a shortcode returns is HTML, so a template escapes it. */
export function registerShortcode(host: HostApi, orders: Orders): void {
  host.content.addShortcode('orders_count', async () =>
    host.views.render('orders/count', { count: await orders.count() }),
  );
}

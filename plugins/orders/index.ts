import { definePlugin } from '#plugin-api';
import { registerCommands } from './commands.ts';
import { registerEvent } from './event.ts';
import { migrations } from './migrations.ts';
import { createOrders } from './orders.ts';
import { registerPage } from './page.ts';
import { registerRoutes } from './routes.ts';
import { registerSending, sendingHook } from './sending.ts';
import { registerSettings } from './settings.ts';
import { registerShortcode } from './shortcode.ts';

export default definePlugin({
  migrations,
  async register(host) {
    const orders = createOrders(host);
    for (const role of ['administrator', 'editor']) host.users.addCapability(role, 'orders_manage');
    const settings = registerSettings(host);
    registerEvent(host);
    registerRoutes(host, orders);
    registerPage(host, orders);
    registerCommands(host, orders);
    registerShortcode(host, orders);
    await registerSending(host, orders, settings);
  },
  async deactivate(host) {
    await host.cron.unschedule(sendingHook);
  },
  async uninstall(host) {
    await host.database.knex.schema.dropTableIfExists('orders_orders');
  },
});

import { isUrl, type HostApi } from '#plugin-api';
import type { Orders } from './orders.ts';
import type { Settings } from './settings.ts';

export const sendingHook = 'orders_send_waiting';

/** Orders that one run of the cron event adds jobs for. */
const mostAtOnce = 500;

/** Recurring work: a cron event, which one node runs, adds a job for each waiting order. A job is retried if it fails. */
export async function registerSending(host: HostApi, orders: Orders, settings: Settings): Promise<void> {
  host.jobs.define<{ id: number }>({
    name: 'send',
    label: 'Send an order to the warehouse',
    schema: { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } },
    async run({ id }, job) {
      const [order, { address, key = '' }] = [await orders.get(id), await settings.read()];
      if (order === null || order.state === 'sent' || !isUrl(address)) return;
      const { status } = await host.http.fetch(address, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          // A job can run twice: the warehouse takes an order with the same key once.
          'idempotency-key': `order-${id}`,
        },
        body: JSON.stringify({ id, customer: order.customer, total: order.total }),
        allowHost: hostOf(address),
        // The key reaches no other host.
        sameOriginOnly: true,
      });
      // Status 4xx is not retried, apart from those that ask for it.
      if (status >= 300) throw Object.assign(new Error(`The warehouse responded with status ${status}.`), { status });
      await job.commit((transaction) => orders.markSent(id, transaction));
    },
  });
  host.hooks.addAction(sendingHook, async () => {
    if ((await settings.read()).address === '') return;
    for (const { id } of await orders.find({ state: 'waiting', limit: mostAtOnce }))
      await host.jobs.add('send', { id }, { key: `order-${id}` });
  });
  await host.cron.schedule('hourly', sendingHook);
}

/** An administrator entered the address, so it may be in the own network. */
function hostOf(address: string): string {
  const { hostname, port, protocol } = new URL(address);
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`;
}

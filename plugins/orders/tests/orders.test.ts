import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { User } from '#plugin-api';
import { createTestHost, type TestHost } from '#testing';

/** The folder that holds the plugin's folder. */
const plugins = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
let host: TestHost;
let user: User;

before(async () => {
  host = await createTestHost({ plugins: ['orders'], pluginDirs: [plugins] });
  user = await host.users.create({
    login: 'ada',
    email: 'ada@example.com',
    password: 'orchid lantern gravel spoon',
    role: 'editor',
  });
});
after(() => host.stop());

const order = (json: object) => host.rest.dispatch('/orders/v1/orders', { method: 'POST', json, user });

test('orders are added, listed page by page and read', async () => {
  host.hooks.addFilter('orders_total', (total: number, customer: string) => (customer === 'Grace' ? 0 : total));
  const first = await order({ customer: 'Ada', total: 1250 });
  assert.equal(first.status, 201);
  const second = await order({ customer: 'Grace', total: 900 });
  const listed = await host.rest.dispatch('/orders/v1/orders', { query: { per_page: '1' }, user });
  assert.deepEqual([listed.body, listed.headers['X-WP-Total']], [[second.body], '2']);
  assert.equal((second.body as { total: number }).total, 0);
  const { id } = first.body as { id: number };
  assert.deepEqual((await host.rest.dispatch(`/orders/v1/orders/${id}`, { user })).body, first.body);
  assert.equal((await host.rest.dispatch('/orders/v1/orders/999', { user })).status, 404);
});

test('administrators may list orders, visitors may not, and wrong orders are refused', async () => {
  const [email, password] = ['grace@example.com', 'orchid lantern gravel spoon'];
  const administrator = await host.users.create({ login: 'grace', email, password, role: 'administrator' });
  assert.equal((await host.rest.dispatch('/orders/v1/orders', { user: administrator })).status, 200);
  assert.equal((await host.fetch('/wp-json/orders/v1/orders')).status, 401);
  assert.equal((await order({ customer: '', total: -1 })).status, 400);
});

test('waiting orders go to the warehouse with the key, and again after it refused them', async (context) => {
  const received: [string | undefined, string][] = [];
  let status = 422;
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    received.push([request.headers.authorization, (await request.toArray()).join('')]);
    response.writeHead(status).end();
  };
  const warehouse = createServer((request, response) => void receive(request, response)).listen(0, '127.0.0.1');
  context.after(() => warehouse.close());
  await once(warehouse, 'listening');
  const { port } = warehouse.address() as AddressInfo;
  await host.options.update('orders_settings', { address: `http://127.0.0.1:${port}/orders`, key: 'secret-1234' });
  const [row] = await host.database.knex('options').where({ name: 'orders_settings' }).select('value');
  assert.ok(!String(row.value).includes('secret-1234'), 'the key is stored encrypted');

  const jobs = host.jobs.forOwner('orders');
  await host.hooks.doActionAsync('orders_send_waiting');
  await jobs.drain();
  assert.equal(received.length, 2);
  status = 201;
  await host.hooks.doActionAsync('orders_send_waiting');
  await jobs.drain();
  assert.deepEqual(received.slice(2), [
    ['Bearer secret-1234', '{"id":2,"customer":"Grace","total":0}'],
    ['Bearer secret-1234', '{"id":1,"customer":"Ada","total":1250}'],
  ]);
  const { body } = await host.rest.dispatch('/orders/v1/orders', { query: { state: 'waiting' }, user });
  assert.deepEqual(body, []);
});

test('posts, the command and other languages show them', async () => {
  const { out } = await host.cli('orders', 'list', '--state=sent', '--json');
  assert.deepEqual(
    (JSON.parse(out) as { customer: string }[]).map(({ customer }) => customer),
    ['Grace', 'Ada'],
  );
  const html = () => host.content.doShortcode('[orders_count]');
  assert.equal((await html()).trim(), '<span class="orders-count">2 orders so far</span>');
  await host.options.update('WPLANG', 'de_AT');
  assert.equal((await html()).trim(), '<span class="orders-count">Bisher 2 Bestellungen</span>');
});

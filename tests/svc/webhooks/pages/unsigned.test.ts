import { expect } from 'chai';
import { endOfNext } from '../delivery-log/open-delivery-log.ts';
import { describeWebhooksAdmin, type WebhooksAdmin } from './webhooks-admin.ts';

/** Sends an event to an endpoint; the page of its delivery. */
async function openDelivery({ host, browser, add, run, receiver }: WebhooksAdmin): Promise<string> {
  await add({ name: 'Shop', url: receiver.url, events: ['task.item_completed'] });
  const ended = endOfNext(host);
  const data = { task: { id: 1 }, queue_item: { id: 1, status: 'completed' } };
  await run('svc', 'event', 'emit', 'task.item_completed', '--json', JSON.stringify({ data }));
  return (await browser.get(`/admin/svc/deliveries/delivery?id=${await ended}`)).text;
}

describeWebhooksAdmin('the pages of webhooks without a secret', (admin) => {
  it('do not call deliveries signed', async () => {
    const { browser, run } = admin();
    await run('svc', 'webhook', 'on', '--json');
    expect((await browser.get('/admin/svc/webhooks')).text)
      .to.contain('are sent to the endpoints below as POST requests')
      .and.contain('Not set: deliveries are not signed')
      .and.not.contain('signed POST');
    expect((await browser.get('/webhook-events')).text).to.not.contain('signed POST');
    expect(await openDelivery(admin()))
      .to.contain('Sent without a signature: no secret was set.')
      .and.contain('As it was sent, without a signature: no secret was set.')
      .and.not.contain('With the recorded timestamp and signature')
      .and.not.contain('New signature');
  });

  it('call them signed once there is one', async () => {
    const { browser, run } = admin();
    await run('svc', 'webhook', 'on', '--json');
    await browser.submit('/admin/svc/webhooks', 'generate-secret');
    expect((await browser.get('/admin/svc/webhooks')).text).to.contain('as signed POST requests');
    expect(await openDelivery(admin()))
      .to.contain('With the recorded timestamp and signature.')
      .and.contain('New signature')
      .and.not.contain('without a signature');
  });
});

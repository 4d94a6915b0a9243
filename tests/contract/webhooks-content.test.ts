import { expect } from 'chai';
import type { WebhookReceiver } from './webhook-receiver.ts';
import { completed, describeSites, started } from './webhook-site.ts';

describeSites('a webhook endpoint with a filter', (site) => {
  let receiver: WebhookReceiver;
  beforeEach(async () => {
    receiver = await site().receiver();
  });
  const ids = (): unknown[] =>
    receiver.received.map(
      ({ body }) => (JSON.parse(body.toString()) as { data: { conversation: { id: string } } }).data.conversation.id,
    );

  it('gets the events whose content matches, queued and at once', async () => {
    const { id } = await site().subscribe(receiver, { filter: '{"data.conversation.id": {"$in": ["c-2", "c-4"]}}' });
    for (let number = 1; number <= 5; number += 1)
      await site().emit('chatbot.session_started', started(`c-${String(number)}`));
    expect(await site().emit('task.item_completed', completed(1))).to.deep.include({ targets: [], deliveries: [] });
    await site().endings(2);
    expect(ids().sort()).to.deep.equal(['c-2', 'c-4']);
    const test = await site().emit('chatbot.session_started', started('test'), { origin: 'admin_test' });
    expect(test).to.include({ delivered: 1 });
    const recent = await site().operator.deliveryLog.recentEvents(50);
    expect(recent.map(({ type }) => type)).to.deep.equal(Array<string>(3).fill('chatbot.session_started'));
    const check = await site().operator.deliveryLog.checkEligibility('chatbot.session_started', id);
    expect(check.find((condition) => condition.id === 'content')).to.deep.include({
      met: false,
      hint: 'Only events that match its filter are sent: {"data.conversation.id": {"$in": ["c-2", "c-4"]}}',
    });
  });

  it('looks at the envelope that is sent, which a plugin may have changed', async () => {
    site().host.hooks.addFilter('svc_event_webhooks_envelope', (envelope) => ({
      ...envelope,
      meta: { team: 'sales' },
    }));
    await site().subscribe(receiver, { filter: '{"meta.team": "sales"}' });
    const others = await site().receiver();
    await site().subscribe(others, { filter: '{"meta.team": "support"}' });
    await site().emit('chatbot.session_started', started('c-1'));
    await site().endings(1);
    expect(ids()).to.deep.equal(['c-1']);
    expect(others.received).to.deep.equal([]);
  });

  it('is refused with the reason where it cannot be read', async () => {
    const refused = site().subscribe(receiver, { filter: '{"bot.id": 1}' });
    const error = await refused.then(
      () => null,
      (thrown: unknown) => thrown as { readonly data: { readonly params: Record<string, string> } },
    );
    expect(error?.data.params['filter']).to.match(/^No event has the member “bot”/);
  });
});

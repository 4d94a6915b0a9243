import { expect } from 'chai';
import type { MailMessage } from '#plugin-api';
import type { WebhookReceiver } from './webhook-receiver.ts';
import { completed, describeSites, started } from './webhook-site.ts';

/* A receiver that responds with 410 Gone (D45). */

describeSites('a webhook endpoint that is gone', (site) => {
  let receiver: WebhookReceiver;
  let mails: MailMessage[];
  beforeEach(async () => {
    receiver = await site().receiver();
    receiver.answer = 410;
    mails = [];
    await site().host.users.create({
      login: 'boss',
      email: 'boss@example.com',
      password: 'a long password of an administrator',
      role: 'administrator',
    });
    site().host.hooks.addFilter('wp_mail_available', () => true);
    site().host.hooks.addFilter('pre_wp_mail', (_receipt, message) => {
      mails.push(message);
      return { reply: '250 OK' };
    });
  });

  const circuits = () => site().operator.deliveryLog.circuits();
  const pending = async (): Promise<number> =>
    (await site().operator.deliveryLog.list({ state: 'pending' }, { limit: 100 })).deliveries.length;

  /** The first event is refused for good; ten wait, and one that is usually sent at once. */
  async function refuse(): Promise<string> {
    const { id } = await site().subscribe(receiver, { events: ['chatbot.session_started', 'task.item_completed'] });
    await site().emit('chatbot.session_started', started('first'));
    await site().endings(1);
    await site().until(async () => (await circuits()).length === 1);
    for (let number = 1; number <= 10; number += 1)
      await site().emit('chatbot.session_started', started(`c-${String(number)}`));
    expect(await site().emit('task.item_completed', completed(1))).to.include({ delivered: 0, failed: 0 });
    expect(receiver.received).to.have.length(1);
    expect(await pending()).to.equal(11);
    return id;
  }

  it('is paused at once, mailed about, and gets what waited once it is resumed', async () => {
    const id = await refuse();
    expect((await circuits())[0]).to.deep.include({
      endpointId: id,
      reason: 'The endpoint responded with 410 Gone: it wants no more deliveries.',
      nextProbeAt: null,
    });
    const check = await site().operator.deliveryLog.checkEligibility('chatbot.session_started', id);
    expect(check.find((condition) => condition.id === 'circuit')).to.deep.include({
      met: false,
      hint: 'The endpoint responded with 410 Gone: it wants no more deliveries. Its events wait until you resume it.',
    });
    await site().until(() => mails.length > 0);
    expect(mails.map(({ to }) => to)).to.deep.equal([['boss@example.com']]);
    expect(mails[0]!.subject).to.match(/^Webhook deliveries to Shop are paused \(/);
    expect(mails[0]!.text).to.contain('410 Gone').and.to.contain('/admin/svc/deliveries#paused');
    receiver.answer = 200;
    expect(await site().operator.deliveryLog.resume(id)).to.equal(true);
    await receiver.first(12);
    await site().until(async () => (await pending()) === 0);
    expect(await circuits()).to.deep.equal([]);
  });

  it('gets a test, which ends the pause once it is accepted', async () => {
    const id = await refuse();
    const test = () => site().emit('chatbot.session_started', started('test'), { origin: 'admin_test' });
    expect(await test()).to.include({ delivered: 0, failed: 1 });
    expect((await circuits()).map(({ endpointId }) => endpointId)).to.deep.equal([id]);
    receiver.answer = 200;
    expect(await test()).to.include({ delivered: 1, failed: 0 });
    await receiver.first(14);
    expect(await circuits()).to.deep.equal([]);
  });

  it('gets what waited at its new address', async () => {
    const id = await refuse();
    const next = await site().receiver();
    next.answer = 200;
    await site().operator.updateEndpoint(id, { url: next.url });
    await next.first(11);
    expect(receiver.received).to.have.length(1);
  });
});

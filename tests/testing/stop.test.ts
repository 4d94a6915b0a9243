import { createFakeClock } from '../../host/testing/fake-clock.ts';
import { completed, started, startWebhookSite } from '../contract/webhook-site.ts';
import { describeHosts } from '../helpers/dialects.ts';

describeHosts('stopping a test host', (dialectCase) => {
  for (const [what, event, data] of [
    ['waits for its retry', 'chatbot.session_started', started('1')],
    ['is sent at once', 'task.item_completed', completed(1)],
  ] as const)
    it(`ends whatever the clock says, while a webhook delivery ${what}`, async () => {
      const site = await startWebhookSite(dialectCase, { clock: createFakeClock({ skipSleeps: true }) });
      await site.subscribe({ url: 'http://127.0.0.1:1/' });
      await site.emit(event, data);
      await site.host.stop();
    }).timeout(20_000);
});

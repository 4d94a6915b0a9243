import { expect } from 'chai';
import { describeWebhooksAdmin, type WebhooksAdmin } from './webhooks-admin.ts';

const page = '/admin/svc/webhooks';

/** The jobs of the panel, newest first, as their forms would be sent. */
async function panel({ browser }: WebhooksAdmin): Promise<{ id: string; attempts: string }[]> {
  const { html } = await browser.get(page);
  return html
    .split('<li class="failed-job"')
    .slice(1)
    .map((part) => ({
      id: /name="id" value="([^"]+)"/.exec(part)?.[1] ?? '',
      attempts: /name="attempts" value="([^"]+)"/.exec(part)?.[1] ?? '',
    }));
}

/** An endpoint that refuses for good, and so many jobs that failed there. */
async function failing(admin: WebhooksAdmin, count: number): Promise<void> {
  admin.receiver.answer = 400;
  await admin.run('svc', 'webhook', 'on', '--json');
  await admin.add({ name: 'Shop', url: admin.receiver.url, events: ['task.item_completed'] });
  for (let number = 1; number <= count; number += 1) {
    const data = { task: { id: 1 }, queue_item: { id: number, status: 'completed' } };
    await admin.run('svc', 'event', 'emit', 'task.item_completed', '--json', JSON.stringify({ data }));
  }
}

describeWebhooksAdmin('the panel of failed jobs', (admin) => {
  it('lists the five most recent, with why they failed and what to do', async () => {
    await failing(admin(), 6);
    const { text } = await admin().browser.get(page);
    expect(await panel(admin())).to.have.length(5);
    expect(text)
      .to.contain('task.item_completed to Shop The endpoint responded with 400. The receiver refuses this event')
      .and.contain('after 1 attempt');
    const failed = (await admin().run('svc', 'queue', 'list', '--state=failed', '--json')) as { id: string }[];
    expect((await panel(admin())).map(({ id }) => id)).to.deep.equal(failed.slice(0, 5).map(({ id }) => id));
  });

  it('retries a job once, however often it is clicked, with the same id', async () => {
    await failing(admin(), 1);
    const { browser, receiver, sendAsync } = admin();
    const [job] = await panel(admin());
    receiver.answer = 200;
    const answers = await Promise.all([1, 2, 3, 4].map(() => sendAsync(page, 'retry', job)));
    expect(answers.map(({ body }) => body.notice.kind).sort()).to.deep.equal(['info', 'info', 'info', 'success']);
    await receiver.count(2);
    expect(receiver.received.map(({ headers }) => headers['x-svc-delivery-id'])).to.deep.equal([job?.id, job?.id]);
    expect(receiver.received[0]?.body).to.equal(receiver.received[1]?.body);
    const { text } = await browser.get(page);
    expect(text).to.contain('No failures.');
  });

  it('takes a click on an old page for the failure that it shows, not for a later one', async () => {
    await failing(admin(), 1);
    const { receiver, nextFailure, sendAsync } = admin();
    const [job] = await panel(admin());
    const failed = nextFailure();
    expect((await sendAsync(page, 'retry', job)).body.notice.text).to.contain('Retry started');
    await failed;
    expect((await sendAsync(page, 'retry', job)).body.notice.text).to.contain('already been retried');
    expect(receiver.received).to.have.length(2);
    const [again] = await panel(admin());
    expect(again).to.deep.equal({ id: job?.id, attempts: '2' });
  });

  it('retries and clears without JavaScript, too', async () => {
    await failing(admin(), 2);
    const { browser, receiver } = admin();
    const [first, second] = await panel(admin());
    receiver.answer = 200;
    expect((await browser.submit(page, 'retry', first)).text).to.contain('Retry started with the same delivery id.');
    await receiver.count(3);
    expect((await browser.submit(page, 'clear', second)).text)
      .to.contain('Removed from the list. The delivery log keeps it.')
      .and.contain('No failures.');
    expect((await admin().run('svc', 'queue', 'list', '--state=failed', '--json')) as unknown[]).to.have.length(1);
  });

  it('clears a job once, and makes room for an older one', async () => {
    await failing(admin(), 6);
    const { sendAsync, receiver } = admin();
    const before = await panel(admin());
    const answers = await Promise.all([1, 2, 3].map(() => sendAsync(page, 'clear', before[0])));
    expect(answers.map(({ body }) => body.notice.kind).sort()).to.deep.equal(['info', 'info', 'success']);
    const after = await panel(admin());
    expect(after).to.have.length(5);
    expect(after.slice(0, 4)).to.deep.equal(before.slice(1));
    expect(receiver.received).to.have.length(6);
  });

  it('knows nothing of jobs that are not failed', async () => {
    await failing(admin(), 1);
    const { sendAsync } = admin();
    for (const fields of [
      {},
      { id: 'x', attempts: '1' },
      { id: '00000000-0000-4000-8000-000000000000', attempts: '' },
    ] as Record<string, string>[]) {
      expect((await sendAsync(page, 'retry', fields)).body.notice.kind).to.equal('info');
      expect((await sendAsync(page, 'clear', fields)).body.notice.kind).to.equal('info');
    }
    expect(await panel(admin())).to.have.length(1);
  });
});

import { expect } from 'chai';
import { callsByUser } from '../helpers/calls-by-user.ts';
import { makeForm, startedPage } from './ai-forms-site.ts';
import { describeWidget } from './widget-site.ts';

describeWidget('calls for visitors who are signed in', (site) => {
  it('are recorded with their user, and limited by the budget of the user; those of guests are not', async () => {
    const { host, user } = site();
    const { id, cookie } = await user('ada');
    const headers = { origin: host.url, cookie };
    const bot = await site().bot();
    const form = await makeForm(site());
    const [ada, guest] = [await site().started(bot, headers), await site().started(bot)];
    const [adasForm, guestsForm] = [await startedPage(site(), form.id, headers), await startedPage(site(), form.id)];
    const { code, err } = await host.cli(
      ...['svc', 'budget', 'set'],
      JSON.stringify({ id: 'ada', name: 'Ada', scope: 'user', user_id: id, unit: 'calls', amount: 2 }),
    );
    expect(code, err).to.equal(0);

    const statuses = async (): Promise<number[]> => [
      (await ada.send('Hello')).status,
      (await adasForm.submit({ topic: 'Sea' })).status,
      (await guest.send('Hello')).status,
      (await guestsForm.submit({ topic: 'Sea' })).status,
    ];
    expect(await statuses()).to.deep.equal([200, 200, 200, 200]);
    // For visitors neither is available: the budget is no limit of theirs.
    expect(await statuses()).to.deep.equal([502, 502, 200, 200]);
    expect(await callsByUser(host, 'chatbots')).to.deep.equal({ 0: 2, [id]: 1 });
    expect(await callsByUser(host, 'ai-forms')).to.deep.equal({ 0: 2, [id]: 1 });
  });
});

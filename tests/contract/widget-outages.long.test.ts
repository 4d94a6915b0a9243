import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createSystemClock } from '../../host/clock.ts';
import { breakDatabase } from '../helpers/break-database.ts';
import { describeHosts, sharedSite } from '../helpers/dialects.ts';
import { until } from '../helpers/until.ts';
import { startWidgetSite, type Guest, type WidgetSite } from './widget-site.ts';

describeHosts('the chat widget while the database is away', ({ location }) => {
  // Inside, so that the site has stopped when its database is removed.
  describe('for a while', () => {
    let site: WidgetSite;
    let guest: Guest;
    let repair: () => Promise<void>;
    const contents = async () => (await guest.start()).body.conversation?.messages.map(({ content }) => content);
    const recorded = async () => (await site.host.database.knex('svc_usage').pluck('outcome')) as string[];

    beforeEach(async function () {
      this.timeout(60_000);
      site = await startWidgetSite({ ...sharedSite(location()), clock: createSystemClock() });
      guest = await site.started(await site.bot());
      repair = () => Promise.resolve();
    });
    afterEach(async () => {
      await repair();
      await site.stop();
    });

    it('refuses a message with 503 and keeps the session; sent again, it is stored once and answered', async () => {
      const message_id = randomUUID();
      repair = await breakDatabase(location());
      const refused = await guest.send('Hello', { message_id });
      expect([refused.status, refused.headers.get('retry-after')]).to.deep.equal([503, '5']);
      expect(refused.body).to.have.property('code', 'rest_service_unavailable');
      await repair();
      const { status, body } = await guest.send('Hello', { message_id });
      expect([status, body.message.content]).to.deep.equal([200, 'You said: Hello']);
      expect(await contents()).to.deep.equal(['Hello', 'You said: Hello']);
      expect(site.upstream.calls).to.have.length(1);
    }).timeout(60_000);

    it('stores an answer that ends meanwhile as soon as it is back, and records its call once', async () => {
      const next = site.upstream.next();
      const stream = await guest.stream('Hello');
      const turn = await next;
      turn.piece('Half');
      await stream.until('delta');
      repair = await breakDatabase(location());
      turn.piece(' and whole');
      turn.end({ input: 3, output: 5 });
      await until('an attempt to write has failed', () =>
        site.host.logged.some((line) => /"event":"usage_write_failed"/.test(line)),
      );
      expect(stream.events.map(({ type }) => type)).to.not.include('error');
      await repair();
      expect((await stream.whole()).at(-1)).to.have.property('type', 'done');
      expect(await contents()).to.deep.equal(['Hello', 'Half and whole']);
      await until('the call is recorded', async () => (await recorded()).length > 0);
      expect(await recorded()).to.deep.equal(['ok']);
      expect(site.upstream.calls).to.have.length(1);
    }).timeout(60_000);
  });
});

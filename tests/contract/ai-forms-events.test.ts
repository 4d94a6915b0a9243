import { randomUUID } from 'node:crypto';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { expect } from 'chai';
import { createSystemClock } from '../../host/clock.ts';
import { formSubmittedEvent } from '../../plugins/svc/modules/ai-forms/form-submitted.event.ts';
import type { Envelope } from '../../plugins/svc/webhooks/event.ts';
import { describeHosts } from '../helpers/dialects.ts';
import { makeForm, startedPage } from './ai-forms-site.ts';
import { contractFields } from './webhook-fields.ts';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';
import { startWidgetSite, type WidgetSite } from './widget-site.ts';
import { until } from '../helpers/until.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- events are compared, not typed.
type Event = Envelope & { readonly data: any };

describeHosts('the event of a form', ({ location }) => {
  // Inside, so that the site has stopped when its database is removed.
  describe('on a site of its own', () => {
    let site: WidgetSite;
    let receiver: WebhookReceiver;

    beforeEach(async function () {
      this.timeout(60_000);
      const { databaseUrl, dataDir } = location();
      site = await startWidgetSite({ database: databaseUrl ?? dataDir, clock: createSystemClock() });
      receiver = await startWebhookReceiver();
      await site.host.cli('svc', 'webhook', 'on');
      const { code, err } = await site.host.cli(
        'svc',
        'webhook',
        'add',
        '--json',
        JSON.stringify({ name: 'Shop', url: receiver.url, events: ['form.submitted'] }),
      );
      if (code !== 0) throw new Error(err);
    });
    afterEach(async () => {
      await site.stop();
      await receiver.stop();
    });

    it('leaves no text in the delivery log of a form that stores nothing', async () => {
      const { id } = await makeForm(site, { privacy: { keep: false } });
      await (await startedPage(site, id)).submit({ topic: 'Of nobody' });
      expect((await received(1))[0]?.data.inputs).to.include({ topic: 'Of nobody' });
      const { knex } = site.host.database;
      const bodies = async (): Promise<string[]> =>
        ((await knex('svc_webhook_events').pluck('body')) as Buffer[]).map((body) => Buffer.from(body).toString());
      await until('events without bodies', async () => (await bodies()).every((body) => body === ''));
      expect(await knex('svc_webhook_deliveries').pluck('state')).to.deep.equal(['delivered']);
    });

    const received = async (count: number): Promise<readonly Event[]> =>
      (await receiver.first(count)).map(({ body }) => JSON.parse(body.toString()) as Event);

    it('arrives once for each submission that was answered, whole and as its schema says; not for what failed or was refused', async () => {
      const { id } = await makeForm(site);
      const { cookie, id: user } = await site.user('ada');
      const guest = await startedPage(site, id);
      const signedIn = await startedPage(site, id, { origin: site.host.url, cookie });
      site.upstream.answer = (turn) => {
        turn.fail(400);
      };
      const submission_id = randomUUID();
      await guest.submit({ topic: 'Sea', tone: 'f' }, { submission_id });
      await guest.submit({ topic: '' });
      site.upstream.answer = (turn) => {
        turn.piece('Salt & Crumb');
        turn.end();
      };
      // The same one three times, twice of them at once.
      await Promise.all([
        guest.submit({ topic: 'Sea', tone: 'f' }, { submission_id }),
        guest.submit({ topic: 'Sea', tone: 'f' }, { submission_id }),
      ]);
      const { body } = await guest.submit({ topic: 'Sea', tone: 'f' }, { submission_id });
      await signedIn.stream({ topic: 'Lake' });
      await guest.submit({ topic: 'The end' });
      const events = await received(3);
      const ajv = addFormats.default(new Ajv({ allErrors: true, allowUnionTypes: true }));
      for (const event of events) {
        expect(ajv.validate(formSubmittedEvent.schema, event.data), ajv.errorsText()).to.equal(true);
        const missing = (contractFields['form.submitted'] ?? []).filter(
          (path) =>
            path !== 'actor.user_id' &&
            path
              .split('.')
              .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], event.data) ===
              undefined,
        );
        expect(missing).to.deep.equal([]);
        expect([event.type, event.source.module, event.source.origin, event.resource?.type]).to.deep.equal([
          'form.submitted',
          'ai_forms',
          'frontend_submission_completed',
          'form_submission',
        ]);
      }
      const byCount = [...events].sort((left, right) => left.data.submission.count - right.data.submission.count);
      expect(byCount.map(({ data }) => data.submission.count)).to.deep.equal([1, 2, 3]);
      const [first, second] = byCount as [Event, Event];
      expect(first.data).to.deep.equal({
        form: { id, name: 'Writer' },
        submission: { id: body.submission_id, count: 1 },
        inputs: { topic: 'Sea', tone: 'f', extras: [], words: null, source: null },
        response: { text: 'Salt & Crumb' },
        ai: { provider: 'OpenAI', model: 'gpt-4o-mini-answered' },
        actor: { type: 'guest' },
      });
      expect([first.resource?.id, first.resource?.label]).to.deep.equal([body.submission_id, 'Writer']);
      expect(second.data.actor).to.deep.equal({ type: 'user', user_id: user });
      expect(new Set(events.map(({ idempotency_key: key }) => key)).size).to.equal(3);
      expect(receiver.received).to.have.length(3);
    });

    it('has the data of a form with fields of the response, whose visitors get a table; a form that stores nothing keeps none', async () => {
      const output = ['Name | text | Of the bakery', 'Price | number', 'Tags | list'];
      const data = { name: 'Salt & Crumb', price: null, tags: ['sea', 'bread'] };
      site.upstream.answer = (turn) => {
        turn.piece(JSON.stringify(turn.call.messages.length === 1 ? { ...data, price: 'unknown' } : data));
        turn.end();
      };
      const table = '| Name | Salt & Crumb |\n| --- | --- |\n| **Price** |  |\n| **Tags** | sea, bread |';
      const { id } = await makeForm(site, { output });
      const page = await startedPage(site, id);
      const done = (await page.stream({ topic: 'Sea' })).filter(({ type }) => type !== 'sources');
      expect(done.map(({ type, text, response }) => [type, text ?? response])).to.deep.equal([
        ['delta', table],
        ['done', table],
      ]);
      expect(done[1]?.data).to.deep.equal(data);
      expect(site.upstream.calls.map(({ stream, response_format: format }) => [stream, format?.type])).to.deep.equal([
        [undefined, 'json_schema'],
        [undefined, 'json_schema'],
      ]);
      expect((await received(1))[0]?.data.response).to.deep.equal({ text: table, data });
      const stored = async (): Promise<{ response: unknown }[]> =>
        JSON.parse((await site.host.cli('svc', 'form', 'submissions', '--json')).out) as { response: unknown }[];
      expect((await stored())[0]?.response).to.deep.equal({ text: table, data });
      const { out } = await site.host.cli('svc', 'form', 'submissions', '--export=csv');
      expect(out).to.contain('""tags"":[""sea"",""bread""]');

      const secret = await makeForm(site, { output, privacy: { keep: false } });
      await (await startedPage(site, secret.id)).submit({ topic: 'Sea' });
      expect((await stored())[0]?.response).to.deep.equal({ text: '' });
    });

    it('is stored with the submission, or neither is', async () => {
      const { id } = await makeForm(site);
      const page = await startedPage(site, id);
      site.host.hooks.addFilter('svc_event_webhooks_envelope', () => {
        throw new Error('A filter is broken.');
      });
      const { status } = await page.submit({ topic: 'Sea' });
      expect(status).to.equal(200);
      const { out } = await site.host.cli('svc', 'form', 'submissions', String(id), '--json');
      expect((JSON.parse(out) as { status: string }[]).map((one) => one.status)).to.deep.equal(['completed']);
    });
  });
});

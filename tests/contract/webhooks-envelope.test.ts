import { expect } from 'chai';
import { Ajv } from 'ajv';
import { contractFields } from './webhook-fields.ts';
import type { Received, WebhookReceiver } from './webhook-receiver.ts';
import { describeSites, eventOf, names, started } from './webhook-site.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** Version 7. */
const orderedUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const envelopeOf = ({ body }: Received) => JSON.parse(body.toString());

/** D17: module, first origin, type of the resource; and whether it is sent at once. */
const table: Readonly<Record<string, readonly [string, readonly string[], string, boolean]>> = {
  'chatbot.session_started': ['chatbot', ['frontend_session_started'], 'conversation', false],
  'chatbot.user_message_submitted': ['chatbot', ['frontend_user_message'], 'conversation_message', false],
  'chatbot.response_generated': ['chatbot', ['frontend_response_completed'], 'conversation_message', false],
  'chatbot.fb_submitted': ['chatbot', ['frontend_feedback'], 'conversation_message', false],
  'chatbot.form_submitted': ['chatbot', ['frontend_rule_form_submission'], 'chatbot_form_submission', false],
  'content.generated': [
    'content_writer',
    ['direct_stream', 'automated_task_content_writing', 'manual_content_writer'],
    'content_generation',
    false,
  ],
  'task.item_completed': ['automated_tasks', ['queue_processor'], 'queue_item', true],
  'form.submitted': ['ai_forms', ['frontend_submission_completed'], 'form_submission', false],
  'image.generated': [
    'image_generator',
    ['frontend_image_generator', 'automated_task_images', 'admin_image_generator'],
    'image_generation',
    false,
  ],
  'kb.source_indexed': ['knowledge_base', ['admin_knowledge_base', 'automated_task_indexing'], 'vector_source', true],
};

describeSites('what a webhook carries', (site) => {
  let receiver: WebhookReceiver;
  beforeEach(async () => {
    receiver = await site().receiver();
  });

  it('every event: method, headers and envelope, data as given and right by its schema', async () => {
    const ajv = new Ajv({ strict: false, allowUnionTypes: true });
    await site().subscribe(receiver);
    await site().host.options.update('blogname', 'A shop & more');
    expect(names).to.deep.equal(Object.keys(table));
    for (const name of names) {
      receiver.forget();
      const { deliveries } = await site().emit(name);
      const [request] = (await receiver.first(1)) as [Received];
      const envelope = envelopeOf(request);
      const [module, [origin], type] = table[name]!;
      expect(request.method, name).to.equal('POST');
      expect(request.headers, name).to.include({
        'content-type': 'application/json; charset=utf-8',
        accept: 'application/json',
        'user-agent': 'svc/1.0.0',
        'content-length': String(request.body.length),
        'x-svc-event': name,
        'x-svc-event-id': envelope.id,
        'x-svc-delivery-id': deliveries[0],
        'x-svc-idempotency-key': envelope.idempotency_key,
        'x-svc-schema-version': '2026-05-21',
      });
      expect(request.headers['x-svc-timestamp']).to.match(/^\d{10}$/);
      for (const header of [
        'X-SVC-Event',
        'X-SVC-Event-Id',
        'X-SVC-Delivery-Id',
        'X-SVC-Idempotency-Key',
        'X-SVC-Schema-Version',
        'X-SVC-Timestamp',
        'Content-Type',
        'Accept',
        'User-Agent',
      ])
        expect(request.rawHeaders).to.include(header);
      expect(Object.keys(request.headers).filter((header) => /signature|^webhook-/.test(header))).to.deep.equal([]);
      expect(envelope, name).to.deep.include({
        type: name,
        schema_version: '2026-05-21',
        site: { url: site().host.site.url, name: 'A shop & more' },
        plugin: { slug: 'svc', version: '1.0.0' },
        source: { module, origin },
        data: eventOf(name).example,
      });
      expect(envelope.id).to.match(uuid);
      expect(deliveries[0]).to.match(orderedUuid).and.not.to.equal(envelope.id);
      expect(envelope.idempotency_key).to.match(/^[0-9a-f]{64}$/);
      expect(envelope.occurred_at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/);
      expect(Math.abs(Date.parse(envelope.occurred_at) - Date.now())).to.be.lessThan(60_000);
      expect(envelope).not.to.have.property('meta');
      if (name === 'content.generated') expect(envelope.resource).to.deep.include({ type: 'post', id: '81' });
      else if (name !== 'image.generated') {
        expect(envelope.resource.type, name).to.equal(type);
        expect(envelope.resource.id, name).to.be.a('string').and.not.equal('');
        expect(envelope.resource.label, name).to.be.a('string');
      }
      expect(ajv.validate(eventOf(name).schema, envelope.data), `${name}: ${ajv.errorsText()}`).to.equal(true);
    }
  });

  it('every data field of the contract is in the schema, in the example and on the wire', async () => {
    await site().subscribe(receiver);
    for (const name of names) {
      receiver.forget();
      await site().emit(name);
      const [request] = (await receiver.first(1)) as [Received];
      const { data } = envelopeOf(request);
      for (const field of contractFields[name]!) {
        const steps = field.split('.');
        expect(
          steps.reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], data),
          `${name}: data.${field}`,
        ).not.to.equal(undefined);
        expect(schemaAt(eventOf(name).schema, steps), `${name}: schema of data.${field}`).not.to.equal(undefined);
      }
    }
  });

  it('module, origin, resource and meta of the caller; a resource id of a number is text, none given and none known is left out', async () => {
    await site().subscribe(receiver);
    await site().emit(
      'image.generated',
      { ...eventOf('image.generated').example, outputs: {} },
      { module: 'gallery', origin: 'import', meta: { provider: 'OpenAI', form_id: 4 } },
    );
    await receiver.first(1);
    await site().emit('chatbot.session_started', started('c-2'), {
      resource: { type: 'thing', id: 12, label: 'Twelve' },
    });
    const [first, second] = ((await receiver.first(2)) as [Received, Received]).map(envelopeOf);
    expect(first).to.deep.include({
      source: { module: 'gallery', origin: 'import' },
      meta: { provider: 'OpenAI', form_id: 4 },
    });
    expect(first).not.to.have.property('resource');
    expect(second.resource).to.deep.equal({ type: 'thing', id: '12', label: 'Twelve' });
    expect(second).not.to.have.property('meta');
  });

  it('text of every script and every control character arrives as it was', async () => {
    await site().subscribe(receiver);
    const text = `"\\/\b\f\n\r\t\u0000\u001f é 漢字 🙂 \u2028 <script> & ${'x'.repeat(100_000)}`;
    await site().emit('chatbot.session_started', { ...started('c-1'), message: { id: 'm-1', text } });
    const [request] = (await receiver.first(1)) as [Received];
    expect(envelopeOf(request).data.message.text).to.equal(text);
    expect(request.headers['content-length']).to.equal(String(request.body.length));
  });

  it('two endpoints: one event id, one key and one body, a delivery id for each', async () => {
    const other = await site().receiver();
    await site().subscribe(receiver);
    await site().subscribe(other);
    const { deliveries } = await site().emit('chatbot.session_started', started('c-1'));
    const [[one], [two]] = [(await receiver.first(1)) as [Received], (await other.first(1)) as [Received]];
    expect(one.body.equals(two.body)).to.equal(true);
    for (const header of ['x-svc-event-id', 'x-svc-idempotency-key', 'x-svc-event'])
      expect(one.headers[header]).to.equal(two.headers[header]);
    expect(deliveries).to.have.members([one.headers['x-svc-delivery-id'], two.headers['x-svc-delivery-id']]);
    expect(new Set(deliveries).size).to.equal(2);
  });

  it('the same act sent twice has the same key and another event id', async () => {
    await site().subscribe(receiver);
    for (const name of names.filter((one) => one !== 'content.generated')) {
      const [first, second] = [await site().emit(name), await site().emit(name)];
      expect(first.envelope?.idempotency_key, name).to.equal(second.envelope?.idempotency_key);
      expect(first.envelope?.id, name).not.to.equal(second.envelope?.id);
    }
    const keyed = (key: string) => site().emit('content.generated', { content: 'x', post: { id: 4 } }, { key: [key] });
    const keys = (await Promise.all([keyed('g-1'), keyed('g-1'), keyed('g-2')])).map(
      ({ envelope }) => envelope?.idempotency_key,
    );
    expect(keys[0]).to.equal(keys[1]);
    expect(keys[2]).not.to.equal(keys[0]);
  });

  it('refuses data that its schema refuses and events nobody knows: logged, not sent, and the caller goes on', async () => {
    await site().subscribe(receiver);
    await site().host.hooks.doActionAsync('svc_event_emit', 'chatbot.session_started', { bot: { id: 1 } });
    await site().host.hooks.doActionAsync('svc_event_emit', 'chatbot.nothing', {});
    const lines = site().host.logged.filter((line) => line.includes('Failed to emit an event'));
    expect(lines).to.have.length(2);
    expect(lines[1]).to.include("There is no event named 'chatbot.nothing'.");
    expect((await site().operator.deliveryLog.list()).deliveries).to.deep.equal([]);
  });
});

/** The schema of a field inside another; undefined where it has none. An object that takes any field has one for each. */
function schemaAt(schema: unknown, steps: readonly string[]): unknown {
  return steps.reduce<unknown>((at, step) => {
    const { properties, additionalProperties, type } = (at ?? {}) as {
      properties?: Record<string, unknown>;
      additionalProperties?: unknown;
      type?: unknown;
    };
    return (
      properties?.[step] ?? (type === 'object' && properties === undefined ? (additionalProperties ?? {}) : undefined)
    );
  }, schema);
}

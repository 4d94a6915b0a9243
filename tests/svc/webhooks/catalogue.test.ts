import { expect } from 'chai';
import { createHooks } from '../../../host/hooks/hooks.ts';
import { serviceEvents } from '../../../plugins/svc/events.ts';
import { createCatalogue } from '../../../plugins/svc/webhooks/catalogue.ts';
import { openApiWebhooks } from '../../../plugins/svc/webhooks/openapi.ts';

describe('the catalogue of events', () => {
  const hooks = createHooks();
  const catalogue = createCatalogue({ hooks, events: serviceEvents });

  it('holds the ten events of the service', () => {
    expect(catalogue.list().map(({ name }) => name)).to.deep.equal([
      'chatbot.session_started',
      'chatbot.user_message_submitted',
      'chatbot.response_generated',
      'chatbot.fb_submitted',
      'chatbot.form_submitted',
      'content.generated',
      'task.item_completed',
      'form.submitted',
      'image.generated',
      'kb.source_indexed',
    ]);
  });

  for (const { name, example, naturalIds, describe: describeResource } of serviceEvents) {
    it(`has an example of ${name} that its schema accepts`, () => {
      expect(catalogue.findErrors(name, example)).to.deep.equal([]);
      expect(() => [naturalIds(example as never), describeResource?.(example as never)]).not.to.throw();
    });
  }

  it('knows feedback by its other name, and no event by any other', () => {
    expect(catalogue.resolveName('chatbot.feedback_submitted')).to.equal('chatbot.fb_submitted');
    expect(catalogue.resolveName('chatbot.gossip')).to.equal(null);
  });

  it('lets plugins define further events', () => {
    const undo = hooks.addFilter('svc_event_schemas', (events) => [
      ...events,
      { ...serviceEvents[0]!, name: 'shop.order_placed', schema: { type: 'object', required: ['order'] } },
    ]);
    expect(catalogue.findErrors('shop.order_placed', {})).to.have.length(1);
    expect(openApiWebhooks(catalogue)).to.have.property('shop.order_placed');
    undo();
    expect(catalogue.resolveName('shop.order_placed')).to.equal(null);
  });

  it('leaves out what is no event and what would replace one, and warns the plugin', () => {
    const each = createHooks();
    const warnings: string[] = [];
    each.addAction('plugin_warning', (slug, message) => void warnings.push(`${slug}: ${message}`));
    const strict = createCatalogue({ hooks: each, events: serviceEvents });
    const first = serviceEvents[0]!;
    const added = (name: string, more: object = {}) => ({ ...first, schema: {}, example: {}, name, ...more });
    const free = added('shop.sold', { schema: { type: 'object', required: ['id'] }, example: { no: 1 } });
    each
      .forOwner('shop')
      .addFilter('svc_event_schemas', (events) => [
        ...events,
        added('evnodot'),
        added('Ev.Upper-Case'),
        added('shop.bad', { schema: { type: 'nonsense' } }),
        added(first.name),
        free,
        added('shop.sold'),
      ]);
    expect(strict.list().map(({ name }) => name)).to.deep.equal([
      ...serviceEvents.map(({ name }) => name),
      'shop.sold',
    ]);
    expect(strict.list()[0]?.schema).to.equal(first.schema);
    strict.list();
    const begin = "shop: In the filter 'svc_event_schemas', ";
    expect(warnings.map((text) => text.slice(begin.length, begin.length + 56))).to.deep.equal(
      [
        "an event is left out: 'evnodot' is not a valid event name",
        "an event is left out: 'Ev.Upper-Case' is not a valid even",
        "an event is left out: the schema of 'shop.bad' is not val",
        `an event is left out: 'chatbot.session_started' is an eve`,
        "the example of the event 'shop.sold' does not fit its sch",
        "an event is left out: there is an event 'shop.sold' alrea",
      ].map((text) => text.slice(0, 56)),
    );
  });

  it('warns of an example that lacks what its schema requires, also where all or the example is missing', () => {
    const each = createHooks();
    const warnings: string[] = [];
    each.addAction('plugin_warning', (_slug, message) => void warnings.push(message));
    const schema = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] };
    each
      .forOwner('shop')
      .addFilter('svc_event_schemas', (events) => [
        ...events,
        { name: 'shop.empty', schema, example: {} } as never,
        { name: 'shop.without', schema } as never,
        { name: 'shop.whole', schema, example: { id: 1 } } as never,
        { name: 'shop.free' } as never,
      ]);
    createCatalogue({ hooks: each, events: serviceEvents }).list();
    expect(warnings).to.deep.equal(
      ['shop.empty', 'shop.without'].map(
        (name) =>
          `In the filter 'svc_event_schemas', the example of the event '${name}' does not fit its schema: data must have required property 'id'.`,
      ),
    );
  });

  it('checks formats, and prints nothing about those it does not know', () => {
    const each = createHooks();
    const strict = createCatalogue({ hooks: each, events: serviceEvents });
    const properties = { at: { type: 'string', format: 'date-time' }, hue: { type: 'string', format: 'hue' } };
    each.addFilter('svc_event_schemas', (events) => [
      ...events,
      { ...serviceEvents[0]!, name: 'shop.sold', schema: { type: 'object', properties }, example: {} },
    ]);
    const printed: unknown[] = [];
    const { warn } = console;
    console.warn = (...given: unknown[]) => void printed.push(given);
    try {
      expect(strict.findErrors('shop.sold', { at: 'yesterday', hue: 'red' })).to.deep.equal([
        'data.at must match format "date-time".',
      ]);
      expect(strict.findErrors('shop.sold', { at: '2026-11-22T20:00:00Z' })).to.deep.equal([]);
    } finally {
      console.warn = warn;
    }
    expect(printed).to.deep.equal([]);
  });
});

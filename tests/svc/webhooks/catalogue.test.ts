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
});

import { defineEvent } from '../../kit/define-event.ts';
import {
  conversationEvent,
  conversationExample,
  conversationMembers,
  formSchema,
  id,
} from '../../kit/event-schemas.ts';

export const chatbotFormSubmittedEvent = defineEvent({
  ...conversationEvent,
  name: 'chatbot.form_submitted',
  origins: ['frontend_rule_form_submission'],
  resource: 'chatbot_form_submission',
  description: "A visitor submits a form shown by a chatbot rule's display-form action.",
  schema: {
    type: 'object',
    properties: {
      ...conversationMembers,
      form: formSchema,
      submission: { type: 'object', properties: { id }, required: ['id'] },
      inputs: {
        type: 'object',
        description:
          'Submitted inputs, with the aliases email, first_name, last_name, phone and company where fields match.',
      },
      display_values: { type: 'object', description: 'Submitted values with the labels of options.' },
      labels: { type: 'object', description: 'Labels of the fields.' },
      summary: { type: 'string' },
      page: { type: 'object', properties: { id, url: { type: 'string' } } },
    },
    required: ['bot', 'conversation', 'actor', 'form', 'submission', 'inputs'],
  },
  example: {
    ...conversationExample(5),
    actor: { type: 'guest' },
    form: { id: 3, name: 'Call me back' },
    submission: { id: 'sub-18' },
    inputs: { field_1: 'Ada', email: 'ada@example.com', first_name: 'Ada' },
    display_values: { field_1: 'Ada', email: 'ada@example.com' },
    labels: { field_1: 'First name', email: 'E-mail' },
    summary: 'First name: Ada\nE-mail: ada@example.com',
    page: { id: 42, url: 'https://shop.example.com/contact' },
  },
  naturalIds: ({ submission }) => [submission.id],
  describe: ({ form, submission }) => ({ id: submission.id, label: form.name }),
});

import { defineEvent } from '../../kit/define-event.ts';
import { conversationMembers, formSchema } from '../../kit/event-schemas.ts';

const id = { type: ['integer', 'string'] } as const;

export const chatbotFormSubmittedEvent = defineEvent({
  name: 'chatbot.form_submitted',
  group: 'Chatbots',
  module: 'chatbot',
  origins: ['frontend_rule_form_submission'],
  resource: 'chatbot_form_submission',
  description: "A visitor submits a form shown by a chatbot rule's display-form action.",
  queued: true,
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
    bot: { id: 12, name: 'Shop assistant' },
    conversation: { id: '0b6f3f5e-6f0d-4f7c-9d0c-3c1e8a4f2b11', message_count: 5 },
    actor: { type: 'guest' },
    form: { id: 3, name: 'Call me back' },
    submission: { id: 'sub-18' },
    inputs: { field_1: 'Ada', email: 'ada@example.com', first_name: 'Ada' },
    display_values: { field_1: 'Ada', email: 'ada@example.com' },
    labels: { field_1: 'First name', email: 'E-mail' },
    summary: 'First name: Ada\nE-mail: ada@example.com',
    page: { id: 42, url: 'https://shop.example.com/contact' },
    ai: { provider: 'OpenAI', model: 'gpt-4.1-mini' },
  },
  naturalIds: ({ submission }) => [submission.id],
  describe: ({ form, submission }) => ({ id: submission.id, label: form.name }),
  orderBy: ({ conversation }) => conversation.id,
});

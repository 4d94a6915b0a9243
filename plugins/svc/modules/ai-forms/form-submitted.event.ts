import { defineEvent } from '../../kit/define-event.ts';
import { actorSchema, aiSchema, formSchema, textObjectSchema } from '../../kit/event-schemas.ts';

export const formSubmittedEvent = defineEvent({
  name: 'form.submitted',
  group: 'AI Forms',
  module: 'ai_forms',
  origins: ['frontend_submission_completed'],
  resource: 'form_submission',
  description: 'A form submission completes and returns a response.',
  queued: true,
  schema: {
    type: 'object',
    properties: {
      form: formSchema,
      submission: {
        type: 'object',
        properties: { id: { type: ['integer', 'string'] }, count: { type: 'integer', minimum: 0 } },
        required: ['id'],
      },
      inputs: { type: 'object', description: 'Submitted inputs.' },
      response: {
        ...textObjectSchema,
        properties: {
          ...textObjectSchema.properties,
          data: { type: 'object', description: 'Of a form with fields of the response: their values by name.' },
        },
      },
      ai: aiSchema,
      actor: actorSchema,
    },
    required: ['form', 'submission', 'inputs', 'response', 'actor'],
  },
  example: {
    form: { id: 9, name: 'Name generator' },
    submission: { id: 1204, count: 1 },
    inputs: { topic: 'A bakery by the sea' },
    response: { text: 'Salt & Crumb' },
    ai: { provider: 'Google', model: 'gemini-2.5-flash' },
    actor: { type: 'user', user_id: 7 },
  },
  naturalIds: ({ form, submission }) => [form.id, submission.id],
  describe: ({ form, submission }) => ({ id: submission.id, label: form.name }),
});

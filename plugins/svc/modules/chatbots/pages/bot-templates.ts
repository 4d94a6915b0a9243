import type { BotChanges } from '../bots/bot.ts';

/** A beginning for a new bot. */
export interface BotTemplate {
  readonly id: string;
  readonly label: string;
  readonly description: string;
  readonly settings: BotChanges;
}

const contactForm = {
  id: 'contact',
  name: 'Contact',
  intro: 'Leave your address and we get back to you.',
  submit_label: 'Send',
  thanks: 'Thank you. We will be in touch.',
  elements: [
    { id: 'name', type: 'text', label: 'Name', help: '', placeholder: '', required: true, options: [] },
    {
      id: 'email',
      type: 'email',
      label: 'E-mail',
      help: '',
      placeholder: 'you@example.com',
      required: true,
      options: [],
    },
    {
      id: 'message',
      type: 'textarea',
      label: 'What is it about?',
      help: '',
      placeholder: '',
      required: false,
      options: [],
    },
  ],
} as const;

const contactRule = (words: string) =>
  ({
    id: 'show-contact',
    name: 'Somebody wants to talk to a person',
    enabled: true,
    event: 'message_received',
    conditions: [{ fact: 'message', operator: 'contains', value: words }],
    action: { type: 'display_form', form_id: 'contact' },
    priority: 10,
  }) as const;

/** What a new bot may begin with. The first is what "Make your first chatbot" makes. */
export const botTemplates: readonly BotTemplate[] = [
  {
    id: 'assistant',
    label: 'Friendly assistant',
    description: 'Answers questions about your site in a few sentences.',
    settings: {
      instructions:
        'You are the assistant of this website. Help visitors with what they ask: answer in a few friendly sentences, in the language they write in. If you do not know something, say so and do not make anything up. Today is [date].',
      greeting: 'Hello! How can I help you?',
      starters: ['What can you help me with?', 'How do I get in touch?'],
    },
  },
  {
    id: 'support',
    label: 'Customer support',
    description: 'Helps with orders and problems, and shows a contact form when a person is needed.',
    settings: {
      instructions:
        'You work in the customer support of this shop. Be polite and to the point, ask back when an order number or a product name is missing, and explain steps as a numbered list. Never promise refunds or dates. When somebody is upset or asks for a person, say that they can leave their details in the form. Today is [date].',
      greeting: 'Hello! What can I do for you?',
      starters: ['Where is my order?', 'How do I return something?', 'I want to talk to a person'],
      forms: [contactForm],
      rules: [contactRule('person\nhuman\nsomebody\ncall me\ncontact')],
    },
  },
  {
    id: 'leads',
    label: 'Sales contact',
    description: 'Answers first questions about an offer and collects the details of those who are interested.',
    settings: {
      instructions:
        'You answer first questions about the offer of this company. Be brief and concrete, find out what the visitor needs with one question at a time, and offer to be called back by a person. Do not name prices that you were not told. Today is [date].',
      greeting: 'Hello! What are you looking for?',
      starters: ['What do you offer?', 'What does it cost?', 'Please call me back'],
      forms: [contactForm],
      rules: [contactRule('offer\nprice\ncost\nquote\ncall me\ncontact')],
    },
  },
];

/** A new bot may be shown on this site, so that its preview answers; on others once they are named. */
export const embeddedHere: BotChanges = { embed: { enabled: true } };

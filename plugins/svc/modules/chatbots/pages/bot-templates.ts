import type { BotChanges } from '../bots/bot.ts';

/** A starting point for a new bot. */
export interface BotTemplate {
  readonly id: string;
  readonly label: string;
  readonly description: string;
  readonly settings: BotChanges;
}

const contactForm = {
  id: 'contact',
  name: 'Contact',
  intro: "Leave your email and we'll get back to you.",
  submit_label: 'Send',
  thanks: 'Thank you. We will be in touch.',
  elements: [
    { id: 'name', type: 'text', label: 'Name', help: '', placeholder: '', required: true, options: [], source: '' },
    {
      id: 'email',
      type: 'email',
      label: 'Email',
      help: '',
      placeholder: 'you@example.com',
      required: true,
      options: [],
      source: '',
    },
    {
      id: 'message',
      type: 'textarea',
      label: 'What is it about?',
      help: '',
      placeholder: '',
      required: false,
      options: [],
      source: '',
    },
  ],
} as const;

const contactRule = (phrases: string) =>
  ({
    id: 'show-contact',
    name: 'Visitor wants to talk to a person',
    enabled: true,
    event: 'message_received',
    conditions: [{ fact: 'message', operator: 'contains', value: phrases }],
    action: { type: 'display_form', form_id: 'contact' },
    priority: 10,
  }) as const;

/** Starting points for a new bot. "Create your first chatbot" uses the first one. */
export const botTemplates: readonly BotTemplate[] = [
  {
    id: 'assistant',
    label: 'Friendly assistant',
    description: 'Answers questions about your site in a few sentences.',
    settings: {
      instructions:
        'You are the assistant of this website. Answer visitors in a few friendly sentences, in the language they ' +
        'write in. If you do not know something, say so and do not invent anything. Today is [date].',
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
        'You work in the customer support of this shop. Be polite and to the point. Ask for an order number or a ' +
        'product name if it is missing, and explain steps as a numbered list. Never promise refunds or dates. When ' +
        'a visitor is upset or asks for a person, say that they can leave their details in the form. Today is [date].',
      greeting: 'Hello! What can I do for you?',
      starters: ['Where is my order?', 'How do I return something?', 'I want to talk to a person'],
      forms: [contactForm],
      rules: [contactRule('person\nhuman\nsomeone\ncall me\ncontact')],
    },
  },
  {
    id: 'leads',
    label: 'Sales contact',
    description: 'Answers first questions about your offer and collects contact details of interested visitors.',
    settings: {
      instructions:
        'You answer first questions about the offer of this company. Be brief and concrete. Find out what the visitor ' +
        'needs with one question at a time, and offer that a person calls back. Only name prices that are listed ' +
        'here. Today is [date].',
      greeting: 'Hello! What are you looking for?',
      starters: ['What do you offer?', 'What does it cost?', 'Please call me back'],
      forms: [contactForm],
      rules: [contactRule('offer\nprice\ncost\nquote\ncall me\ncontact')],
    },
  },
];

/** A new bot may be embedded on this site, so that its preview works. Other sites need an entry in the allowed domains. */
export const embeddedHere: BotChanges = { embed: { enabled: true } };

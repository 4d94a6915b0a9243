import { knowledgeSchema } from '../../../../kit/assistants/assistant-knowledge.ts';
import { aiParamSchemas } from '../../../../kit/ai-params.ts';
import { embedSchema } from '../../../../kit/visitors/embed-schema.ts';
import type { BotSettings } from '../bot.ts';
import { consentSchema, limitsSchema, lookSchema, textsSchema } from './appearance.ts';
import {
  choice,
  flag,
  line,
  name,
  text,
  whole,
  type SettingSchema,
  group,
} from '../../../../kit/settings-schema/fields.ts';
import { formsSchema, rulesSchema } from './rules-and-forms.ts';

const moderationSchema = group<BotSettings['moderation']>(
  { title: 'Moderation' },
  {
    banned_words: {
      type: 'array',
      title: 'Banned words',
      description: 'Without regard to case and accents, whole words.',
      default: [],
      items: line({ title: 'Word' }, ''),
      maxItems: 1_000,
    },
    banned_addresses: {
      type: 'array',
      title: 'Banned addresses',
      description: 'IP addresses and ranges such as 203.0.113.0/24.',
      default: [],
      items: line({ title: 'Address' }, '', 60),
      maxItems: 1_000,
    },
    message: text({ title: 'Shown in place of an answer' }, 'This message cannot be answered.'),
  },
);

const privacySchema = group<BotSettings['privacy']>(
  { title: 'Privacy' },
  {
    keep: flag(
      {
        title: 'Keep conversations',
        description: "Off: they live in the visitor's page alone and nothing of them is stored.",
      },
      true,
    ),
    retention_days: whole(
      { title: 'Days they are kept', description: 'After the last message; 0: for ever.' },
      0,
      [0, 36_500],
    ),
    anonymise_ip: flag(
      {
        title: 'Anonymise IP addresses',
        description: 'The last part of IPv4, the last 80 bits of IPv6 are zeroed before an address is stored.',
      },
      true,
    ),
  },
);

const instructions =
  'You are a friendly and helpful assistant. Answer briefly and clearly, in the language you are asked in. If you do not know something, say so. Today is [date].';

/**
 * All settings of a bot: the one source of its defaults, its checks, what commands and export take, and the titles of its
 * form. `provider` and `model` have their defaults from what is configured (`bots/first-model.ts`).
 */
export const botSchema = {
  type: 'object',
  title: 'Chatbot',
  additionalProperties: false,
  properties: {
    name: { ...name({ title: 'Name' }), default: 'Chatbot' },
    status: choice({ title: 'Status', description: 'An inactive chatbot answers nobody.' }, ['active', 'inactive']),
    provider: { type: 'string', title: 'Provider', default: '' },
    model: line({ title: 'Model', description: "Empty: the provider's saved one." }, ''),
    instructions: text(
      { title: 'Instructions', description: '[date] and [username] are filled in.' },
      instructions,
      100_000,
    ),
    greeting: text({ title: 'Greeting' }, 'Hello! How can I help you?', 4_000),
    starters: {
      type: 'array',
      title: 'Questions to click on',
      default: [],
      items: name({ title: 'Question' }, 300),
      maxItems: 8,
    },
    temperature: {
      ...aiParamSchemas.temperature,
      type: ['number', 'null'],
      title: 'Temperature',
      description: '0 to 2; none: the global default.',
      default: null,
    },
    max_completion_tokens: {
      ...aiParamSchemas.max_completion_tokens,
      title: 'Longest answer in tokens',
      default: 4_000,
    },
    max_messages: whole(
      {
        title: 'Messages remembered',
        description: 'What the model is told of the conversation, the new message included.',
      },
      15,
      [1, 200],
    ),
    knowledge: knowledgeSchema,
    look: lookSchema,
    texts: textsSchema,
    limits: limitsSchema,
    consent: consentSchema,
    moderation: moderationSchema,
    privacy: privacySchema,
    feedback: flag({ title: 'Visitors may rate answers' }, true),
    embed: embedSchema,
    rules: rulesSchema,
    forms: formsSchema,
  },
} as const satisfies SettingSchema & { readonly properties: Readonly<Record<keyof BotSettings, SettingSchema>> };

import { knowledgeSchema } from '../../../../kit/assistants/assistant-knowledge.ts';
import { aiParamSchemas } from '../../../../kit/ai-params.ts';
import { embedSchema } from '../../../../kit/visitors/embed-settings.ts';
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
      description: 'Whole words. Case and accents do not matter.',
      default: [],
      items: line({ title: 'Word' }, ''),
      maxItems: 1_000,
    },
    banned_addresses: {
      type: 'array',
      title: 'Banned IP addresses',
      description: 'IP addresses and ranges such as 203.0.113.0/24.',
      default: [],
      items: line({ title: 'Address' }, '', 60),
      maxItems: 1_000,
    },
    message: text({ title: 'Shown instead of an answer' }, 'This message cannot be answered.'),
  },
);

const privacySchema = group<BotSettings['privacy']>(
  { title: 'Privacy' },
  {
    keep: flag(
      {
        title: 'Store conversations',
        description: "When off, conversations exist only in the visitor's page and are not stored.",
      },
      true,
    ),
    retention_days: whole(
      { title: 'Delete after (days)', description: 'Counted from the last message. 0 = never' },
      0,
      [0, 36_500],
    ),
    anonymise_ip: flag(
      {
        title: 'Anonymize IP addresses',
        description:
          'Replaces the last part of IPv4 and the last 80 bits of IPv6 by zeros before an address is stored.',
      },
      true,
    ),
    image_origins: {
      type: 'array',
      title: 'Show images from',
      description:
        'Images of this site are always shown, all others as links. Add origins such as https://cdn.example.com.',
      default: [],
      items: {
        type: 'string',
        title: 'Origin',
        maxLength: 300,
        pattern: '^https?://[^\\s/?#@]+$',
        rule: 'must be an origin such as https://cdn.example.com',
      },
      maxItems: 50,
    },
  },
);

const instructions =
  'You are a friendly and helpful assistant. Answer briefly and clearly, in the language you are asked in. ' +
  'If you do not know something, say so. Today is [date].';

/**
 * All settings of a bot: the source of its defaults, validation, commands and export. The defaults of `provider` and
 * `model` come from the settings of providers.
 */
export const botSchema = {
  type: 'object',
  title: 'Chatbot',
  additionalProperties: false,
  properties: {
    name: { ...name({ title: 'Name' }), default: 'Chatbot' },
    status: choice({ title: 'Status', description: 'An inactive chatbot is treated as missing.' }, [
      'active',
      'inactive',
    ]),
    provider: { type: 'string', title: 'Provider', default: '' },
    model: line({ title: 'Model', description: "Leave empty to use the provider's default model." }, ''),
    instructions: text(
      { title: 'Instructions', description: '[date] and [username] are replaced.' },
      instructions,
      100_000,
    ),
    greeting: text({ title: 'Greeting' }, 'Hello! How can I help you?', 4_000),
    starters: {
      type: 'array',
      title: 'Suggested questions',
      default: [],
      items: name({ title: 'Question' }, 300),
      maxItems: 8,
    },
    temperature: {
      ...aiParamSchemas.temperature,
      type: ['number', 'null'],
      title: 'Temperature',
      description: '0 to 2, or null for the global default.',
      default: null,
    },
    max_completion_tokens: {
      ...aiParamSchemas.max_completion_tokens,
      title: 'Maximum answer length (tokens)',
      default: 4_000,
    },
    max_messages: whole(
      {
        title: 'Messages remembered',
        description: 'Recent messages sent to the model, including the new one.',
      },
      15,
      [1, 200],
    ),
    max_prompt_characters: whole(
      {
        title: 'Characters remembered',
        description:
          'Limits the cost of one message: the oldest messages are left out. The new message is always sent.',
      },
      32_000,
      [1_000, 1_000_000],
    ),
    knowledge: knowledgeSchema,
    look: lookSchema,
    texts: textsSchema,
    limits: limitsSchema,
    consent: consentSchema,
    moderation: moderationSchema,
    privacy: privacySchema,
    feedback: flag({ title: 'Let visitors rate answers' }, true),
    embed: embedSchema,
    rules: rulesSchema,
    forms: formsSchema,
  },
} as const satisfies SettingSchema & { readonly properties: Readonly<Record<keyof BotSettings, SettingSchema>> };

import type { JsonSchema } from '#plugin-api';
import { knowledgeSchema } from '../../../../kit/assistants/assistant-knowledge.ts';
import { aiParamSchemas } from '../../../../kit/ai-params.ts';
import { embedSchema } from '../../../../kit/visitors/embed-settings.ts';
import { consentSchema, limitsSchema, lookSchema, textsSchema } from './appearance.ts';
import { choice, flag, group, line, lines, name, text, whole } from '../../../../kit/setting-schemas.ts';
import { formsSchema, rulesSchema } from './rules-and-forms.ts';

const moderationSchema = group(
  { title: 'Moderation' },
  {
    banned_words: lines(
      {
        title: 'Banned words',
        description: 'One word or phrase per line. Case and accents do not matter. Only whole words match.',
        ui: { rows: 3 },
      },
      line({ title: 'Word' }, ''),
      1_000,
    ),
    banned_addresses: lines(
      {
        title: 'Banned IP addresses',
        description: 'One address or range per line.',
        ui: { rows: 3, mono: true, placeholder: '203.0.113.0/24' },
      },
      line({ title: 'Address' }, '', 60),
      1_000,
    ),
    message: text({ title: 'Reply to refused messages', ui: { rows: 2 } }, 'This message cannot be answered.'),
  },
);

const privacySchema = group(
  { title: 'Privacy' },
  {
    keep: flag(
      {
        title: 'Store conversations',
        description:
          "When off, a conversation exists only in the visitor's page and is not logged. Bodies of webhook events are deleted " +
          'after their last delivery.',
      },
      true,
    ),
    retention_days: whole(
      {
        title: 'Delete after (days)',
        description: 'Counted from the last message. 0 = never',
        ui: { short: true },
      },
      0,
      [0, 36_500],
    ),
    // Replaces the last part of IPv4 and the last 80 bits of IPv6.
    anonymise_ip: flag(
      {
        title: 'Anonymize IP addresses',
        description: 'Replaces the end of an address with zeros before it is stored.',
      },
      true,
    ),
    image_origins: lines(
      {
        title: 'Show images from',
        description:
          'One origin per line. Images of this site are always shown, all others as links, because loading an image ' +
          'could reveal a conversation.',
        ui: { rows: 2, mono: true, placeholder: 'https://cdn.example.com' },
      },
      {
        type: 'string',
        title: 'Origin',
        maxLength: 300,
        pattern: '^https?://[^\\s/?#@]+$',
        rule: 'must be an origin such as https://cdn.example.com',
      },
      50,
    ),
  },
);

const instructions =
  'You are a friendly and helpful assistant. Answer briefly and clearly, in the language you are asked in. ' +
  'If you do not know something, say so. Today is [date].';

const modelMembers = {
  provider: { type: 'string', title: 'Provider', default: '' },
  model: line(
    {
      title: 'Model',
      description: "Leave empty to use the provider's default model.",
      ui: { mono: true, placeholder: 'Default model' },
    },
    '',
  ),
  temperature: {
    ...aiParamSchemas.temperature,
    type: ['number', 'null'],
    title: 'Temperature',
    description: '0 to 2: low for facts, high for ideas.',
    default: null,
    ui: { short: true, placeholder: 'Default' },
  },
  max_completion_tokens: {
    ...aiParamSchemas.max_completion_tokens,
    title: 'Maximum answer length (tokens)',
    description: 'About 4 characters per token. Default 4,000.',
    default: 4_000,
    ui: { short: true },
  },
  max_messages: whole(
    {
      title: 'Messages remembered',
      description: 'How many recent messages are sent to the model. More context costs more. Default 15.',
      ui: { short: true },
    },
    15,
    [1, 200],
  ),
  max_prompt_characters: whole(
    {
      title: 'Characters remembered',
      description:
        'Limits what one message can cost: the oldest messages are left out. Default 32,000, about 8,000 tokens.',
      ui: { short: true },
    },
    32_000,
    [1_000, 1_000_000],
  ),
} as const;

const messageMembers = {
  instructions: text(
    {
      title: 'Instructions',
      description:
        'What the bot knows, how it talks, what it must not do. ' +
        "[date] becomes today's date, [username] the visitor's name, or Guest.",
      ui: { rows: 8 },
    },
    instructions,
    100_000,
  ),
  greeting: text(
    {
      title: 'Greeting',
      description: 'The first message. Markdown such as **bold** and [links](https://example.com) works.',
      ui: { rows: 2 },
    },
    'Hello! How can I help you?',
    4_000,
  ),
  starters: lines(
    {
      title: 'Suggested questions',
      description: 'Up to 8, one per line. Visitors can click one to start.',
      ui: { rows: 4 },
    },
    name({ title: 'Question' }, 300),
    8,
  ),
} as const;

/**
 * All settings of a bot: the source of their types, form, defaults, validation, commands and export. The defaults of `provider`
 * and `model` come from the settings of providers.
 */
export const botSchema = {
  type: 'object',
  title: 'Chatbot',
  additionalProperties: false,
  properties: {
    name: {
      ...name({ title: 'Name', description: 'Shown in lists and logs. Visitors see the title under Texts.' }),
      default: 'Chatbot',
    },
    status: choice({ title: 'Status', description: 'An inactive chatbot is not shown anywhere.' }, [
      'active',
      'inactive',
    ]),
    ...modelMembers,
    ...messageMembers,
    knowledge: knowledgeSchema,
    look: lookSchema,
    texts: textsSchema,
    limits: limitsSchema,
    consent: consentSchema,
    moderation: moderationSchema,
    privacy: privacySchema,
    feedback: flag(
      {
        title: 'Let visitors rate answers',
        description: 'Thumbs up, thumbs down and a comment, shown in the logs.',
      },
      true,
    ),
    ask_solved: flag(
      {
        title: 'Ask whether the question was answered',
        description:
          'Once in a conversation, after the second answer. The conversation and rules have it as the variable “solved”.',
      },
      true,
    ),
    embed: embedSchema,
    rules: rulesSchema,
    forms: formsSchema,
  },
} as const satisfies JsonSchema;

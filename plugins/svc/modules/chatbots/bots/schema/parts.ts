import type { BotSettings } from '../bot.ts';
import { flag, group, line, text, whole } from '../../../../kit/settings-schema/fields.ts';

export const moderationSchema = group<BotSettings['moderation']>(
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

export const privacySchema = group<BotSettings['privacy']>(
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

import type { Section } from './bot-section.ts';

/** Consent, moderation, privacy and ratings. */
export const safetySection: Section = {
  id: 'safety',
  title: 'Privacy and safety',
  groups: [
    {
      title: 'Consent',
      wide: true,
      fields: [
        {
          path: 'consent.required',
          type: 'switch',
          label: 'Ask before the first message',
          help: 'Nothing is sent or stored until the visitor agrees.',
        },
        {
          path: 'consent.text',
          type: 'textarea',
          label: 'What they agree to',
          rows: 3,
          help: 'Plain text, with links such as [privacy policy](https://example.com/privacy).',
        },
      ],
    },
    {
      title: 'What is kept',
      wide: true,
      fields: [
        {
          path: 'privacy.keep',
          type: 'switch',
          label: 'Keep conversations',
          help: "Off: a conversation lives in the visitor's page alone; logs stay empty.",
        },
        {
          path: 'privacy.retention_days',
          type: 'number',
          label: 'Days until they are deleted',
          min: 0,
          short: true,
          help: 'Counted from the last message. 0: never.',
        },
        {
          path: 'privacy.anonymise_ip',
          type: 'switch',
          label: 'Shorten IP addresses',
          help: 'The end of an address is zeroed before it is stored.',
        },
      ],
    },
    {
      title: 'Refusals',
      wide: true,
      fields: [
        {
          path: 'moderation.banned_words',
          type: 'lines',
          label: 'Banned words',
          rows: 3,
          help: 'One word or phrase a line. Case and accents do not matter; parts of words do not count.',
        },
        {
          path: 'moderation.banned_addresses',
          type: 'lines',
          label: 'Banned IP addresses',
          rows: 3,
          mono: true,
          placeholder: '203.0.113.0/24',
          help: 'One address or range a line.',
        },
        { path: 'moderation.message', type: 'textarea', label: 'Answer to refused messages', rows: 2 },
      ],
    },
    {
      title: 'Ratings',
      wide: true,
      fields: [
        {
          path: 'feedback',
          type: 'switch',
          label: 'Visitors may rate answers',
          help: 'Thumbs up, thumbs down and a comment, shown in the logs.',
        },
      ],
    },
  ],
};

import type { FieldGroup, Section } from './bot-section.ts';

const consent: FieldGroup = {
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
      label: 'Consent text',
      rows: 3,
      help: 'Plain text, with links such as [privacy policy](https://example.com/privacy).',
    },
  ],
};

const storage: FieldGroup = {
  title: 'Storage',
  wide: true,
  fields: [
    {
      path: 'privacy.keep',
      type: 'switch',
      label: 'Store conversations',
      help:
        "When off, a conversation exists only in the visitor's page and is not logged. Bodies of webhook events are deleted " +
        'after their last delivery.',
    },
    {
      path: 'privacy.retention_days',
      type: 'number',
      label: 'Delete after (days)',
      min: 0,
      short: true,
      help: 'Counted from the last message. 0 = never',
    },
    {
      path: 'privacy.anonymise_ip',
      type: 'switch',
      label: 'Anonymize IP addresses',
      help: 'Replaces the end of an address with zeros before it is stored.',
    },
    {
      path: 'privacy.image_origins',
      type: 'lines',
      label: 'Show images from',
      rows: 2,
      mono: true,
      placeholder: 'https://cdn.example.com',
      help:
        'One origin per line. Images of this site are always shown, all others as links, because loading an image ' +
        'could reveal a conversation.',
    },
  ],
};

const moderation: FieldGroup = {
  title: 'Moderation',
  wide: true,
  fields: [
    {
      path: 'moderation.banned_words',
      type: 'lines',
      label: 'Banned words',
      rows: 3,
      help: 'One word or phrase per line. Case and accents do not matter. Only whole words match.',
    },
    {
      path: 'moderation.banned_addresses',
      type: 'lines',
      label: 'Banned IP addresses',
      rows: 3,
      mono: true,
      placeholder: '203.0.113.0/24',
      help: 'One address or range per line.',
    },
    { path: 'moderation.message', type: 'textarea', label: 'Reply to refused messages', rows: 2 },
  ],
};

const ratings: FieldGroup = {
  title: 'Ratings',
  wide: true,
  fields: [
    {
      path: 'feedback',
      type: 'switch',
      label: 'Let visitors rate answers',
      help: 'Thumbs up, thumbs down and a comment, shown in the logs.',
    },
  ],
};

/** Consent, storage, moderation and ratings. */
export const safetySection: Section = {
  id: 'safety',
  title: 'Privacy and safety',
  groups: [consent, storage, moderation, ratings],
};

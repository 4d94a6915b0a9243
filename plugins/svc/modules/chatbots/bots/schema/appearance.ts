import type { BotLimit, BotLimits, BotLook, BotSettings, BotTexts } from '../bot.ts';
import { choice, flag, group, line, text, whole, type SettingSchema } from '../../../../kit/settings-schema/fields.ts';

const colour = (title: string): SettingSchema => ({
  type: 'string',
  title,
  description: 'Empty: the colour of the theme.',
  default: '',
  pattern: '^(#[0-9a-fA-F]{6})?$',
  rule: 'must be a colour such as #1d4ed8, or empty',
});

export const lookSchema = group<BotLook>(
  { title: 'Look' },
  {
    theme: choice({ title: 'Theme', description: 'auto follows the visitor.' }, ['auto', 'light', 'dark']),
    primary_color: colour('Main colour'),
    text_color: colour('Text colour'),
    background_color: colour('Background'),
    user_bubble_color: colour("Visitor's messages"),
    bot_bubble_color: colour("Chatbot's messages"),
    corner_radius: whole({ title: 'Corner radius', description: 'Pixels, 0 to 32.' }, 12, [0, 32]),
    mode: choice({ title: 'Shown as' }, ['popup', 'inline', 'page']),
    position: choice({ title: 'Corner of the popup' }, ['bottom-right', 'bottom-left', 'top-right', 'top-left']),
    size: { ...choice({ title: 'Size of the popup' }, ['small', 'medium', 'large']), default: 'medium' },
    icon: choice({ title: 'Icon' }, ['chat', 'robot', 'spark', 'help', 'heart']),
    avatar_url: line(
      { title: 'Picture', description: 'Address of a picture in place of the icon; empty: none.' },
      '',
      2_000,
    ),
    direction: choice({ title: 'Writing direction', description: 'auto follows the page.' }, ['auto', 'ltr', 'rtl']),
    open_after: whole(
      { title: 'Opens by itself after', description: 'Seconds; 0: it waits for a click.' },
      0,
      [0, 3_600],
    ),
  },
);

/** The built-in labels are the defaults; a label that was emptied is shown as the built-in one. */
export const textsSchema = group<BotTexts>(
  { title: 'Texts' },
  {
    title: line({ title: 'Title' }, 'Chat with us'),
    subtitle: line({ title: 'Line below the title' }, ''),
    placeholder: line({ title: 'Text in the empty field' }, 'Write a message…'),
    send: line({ title: 'Send' }, 'Send'),
    stop: line({ title: 'Stop' }, 'Stop'),
    retry: line({ title: 'Try again' }, 'Try again'),
    regenerate: line({ title: 'Make the answer anew' }, 'New answer'),
    copy: line({ title: 'Copy' }, 'Copy'),
    copied: line({ title: 'Copied' }, 'Copied'),
    new_chat: line({ title: 'New chat' }, 'New chat'),
    download: line({ title: 'Download transcript' }, 'Download transcript'),
    open: line({ title: 'Open' }, 'Open chat'),
    close: line({ title: 'Close' }, 'Close chat'),
    good: line({ title: 'Thumb up' }, 'Good answer'),
    bad: line({ title: 'Thumb down' }, 'Bad answer'),
    comment: line({ title: 'Asking for a comment' }, 'What could be better?'),
    thanks: line({ title: 'After feedback' }, 'Thank you for your feedback.'),
    sources: line({ title: 'Sources' }, 'Sources'),
    typing: line({ title: 'While an answer is made' }, 'Writing an answer…'),
    you: line({ title: 'The visitor, in transcripts' }, 'You'),
    latest: line({ title: 'To the newest message' }, 'Newest messages'),
    again: line(
      { title: 'When there is more after a limit', description: '{time} is filled in.' },
      'You can write again {time}.',
    ),
    offline: line(
      { title: 'Without connection' },
      'You are offline. Your message is sent when the connection is back.',
      500,
    ),
    error: line({ title: 'After a failure' }, 'Something went wrong. Please try again.', 500),
    consent_button: line({ title: 'Button to consent' }, 'Agree and start'),
    submit: line({ title: 'Button of forms' }, 'Submit'),
    required: line({ title: 'Missing in a form' }, 'Please fill in this field.'),
    footer: line({ title: 'Small print below the field' }, 'Answers are made by AI and may be wrong.', 500),
  },
);

const limit = (title: string): SettingSchema =>
  group<BotLimit>(
    { title },
    {
      amount: whole({ title: 'At most', description: '0: no limit.' }, 0, [0, 1_000_000_000]),
      unit: choice({ title: 'Counted' }, ['messages', 'tokens']),
      per: choice({ title: 'In a', description: "By the site's time zone; weeks begin on Monday." }, [
        'day',
        'week',
        'month',
      ]),
    },
  );

export const limitsSchema = group<BotLimits>(
  { title: 'Limits', description: 'They hold for visitors; calls with the REST key are not counted.' },
  {
    guest: limit('Visitors who are not signed in'),
    user: limit('Signed-in users'),
    roles: {
      type: 'object',
      title: 'By role',
      description: 'Of several roles the most generous counts, and it wins over the limit of users.',
      default: {},
      additionalProperties: limit('Role'),
      maxProperties: 50,
    },
    message: text({ title: 'Shown at the limit' }, 'You have reached the limit for now. Please come back later.'),
  },
);

export const consentSchema = group<BotSettings['consent']>(
  { title: 'Consent' },
  {
    required: flag({ title: 'Ask for consent before the first message' }, false),
    text: text(
      { title: 'Text', description: 'Plain text and links in Markdown.' },
      'Your messages are processed by an AI service to answer them. Please do not write anything confidential.',
      4_000,
    ),
  },
);

import type { BotLimit, BotLimits, BotLook, BotSettings, BotTexts } from '../bot.ts';
import { choice, flag, group, line, text, whole, type SettingSchema } from '../../../../kit/settings-schema/fields.ts';

const color = (title: string): SettingSchema => ({
  type: 'string',
  title,
  description: 'Leave empty to use the color of the theme.',
  default: '',
  pattern: '^(#[0-9a-fA-F]{6})?$',
  rule: 'must be a color such as #1d4ed8, or empty',
});

export const lookSchema = group<BotLook>(
  { title: 'Look' },
  {
    theme: choice({ title: 'Theme', description: "auto uses the visitor's setting." }, ['auto', 'light', 'dark']),
    primary_color: color('Main color'),
    text_color: color('Text color'),
    background_color: color('Background'),
    user_bubble_color: color("Visitor's messages"),
    bot_bubble_color: color("Chatbot's messages"),
    corner_radius: whole({ title: 'Corner radius', description: 'Pixels, 0 to 32.' }, 12, [0, 32]),
    mode: choice({ title: 'Shown as' }, ['popup', 'inline', 'page']),
    position: choice({ title: 'Corner of the popup' }, ['bottom-right', 'bottom-left', 'top-right', 'top-left']),
    size: { ...choice({ title: 'Size of the popup' }, ['small', 'medium', 'large']), default: 'medium' },
    icon: choice({ title: 'Icon' }, ['chat', 'robot', 'spark', 'help', 'heart']),
    avatar_url: line({ title: 'Picture', description: 'URL of a picture that replaces the icon.' }, '', 2_000),
    direction: choice({ title: 'Text direction', description: 'auto uses the direction of the page.' }, [
      'auto',
      'ltr',
      'rtl',
    ]),
    open_after: whole({ title: 'Open automatically after (seconds)', description: '0 = only on click' }, 0, [0, 3_600]),
  },
);

/** The defaults are the built-in texts. An empty label shows the built-in one. */
export const textsSchema = group<BotTexts>(
  { title: 'Texts' },
  {
    title: line({ title: 'Title' }, 'Chat with us'),
    subtitle: line({ title: 'Subtitle' }, ''),
    placeholder: line({ title: 'Placeholder' }, 'Write a message…'),
    send: line({ title: 'Send' }, 'Send'),
    stop: line({ title: 'Stop' }, 'Stop'),
    retry: line({ title: 'Try again' }, 'Try again'),
    regenerate: line({ title: 'Generate a new answer' }, 'New answer'),
    copy: line({ title: 'Copy' }, 'Copy'),
    copied: line({ title: 'Copied' }, 'Copied'),
    new_chat: line({ title: 'New chat' }, 'New chat'),
    download: line({ title: 'Download transcript' }, 'Download transcript'),
    open: line({ title: 'Open' }, 'Open chat'),
    close: line({ title: 'Close' }, 'Close chat'),
    good: line({ title: 'Thumbs up' }, 'Good answer'),
    bad: line({ title: 'Thumbs down' }, 'Bad answer'),
    comment: line({ title: 'Ask for a comment' }, 'What could be better?'),
    thanks: line({ title: 'After feedback' }, 'Thank you for your feedback.'),
    sources: line({ title: 'Sources' }, 'Sources'),
    typing: line({ title: 'Writing indicator' }, 'Writing an answer…'),
    you: line({ title: 'The visitor, in transcripts' }, 'You'),
    latest: line({ title: 'Go to the newest message' }, 'Newest messages'),
    again: line({ title: 'When the limit resets', description: '{time} is replaced.' }, 'You can write again on {time}.'),
    offline: line(
      { title: 'No connection' },
      'You are offline. Your message is sent when the connection is back.',
      500,
    ),
    error: line({ title: 'Error' }, 'Something went wrong.', 500),
    consent_button: line({ title: 'Consent button' }, 'Agree and start'),
    submit: line({ title: 'Submit button of forms' }, 'Submit'),
    required: line({ title: 'Required field is empty' }, 'Please fill in this field.'),
    footer: line({ title: 'Small print below the field' }, 'Answers are made by AI and may be wrong.', 500),
  },
);

const limit = (title: string): SettingSchema =>
  group<BotLimit>(
    { title },
    {
      amount: whole({ title: 'At most', description: '0 = no limit' }, 0, [0, 1_000_000_000]),
      unit: choice({ title: 'Unit' }, ['messages', 'tokens']),
      per: choice({ title: 'Period', description: "By the site's time zone; weeks begin on Monday." }, [
        'day',
        'week',
        'month',
      ]),
    },
  );

export const limitsSchema = group<BotLimits>(
  { title: 'Limits', description: 'They apply to visitors. Calls with the REST key are not counted.' },
  {
    guest: limit('Guests'),
    user: limit('Signed-in users'),
    roles: {
      type: 'object',
      title: 'By role',
      description: 'If a user has several roles, the highest limit applies. It overrides the limit of users.',
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
      { title: 'Text', description: 'Plain text, with links in Markdown.' },
      'Your messages are processed by an AI service to answer them. Please do not write anything confidential.',
      4_000,
    ),
  },
);

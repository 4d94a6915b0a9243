import { visitorLimit, visitorLimits } from '../../../../kit/form-elements.ts';
import { choice, flag, group, line, text, whole } from '../../../../kit/setting-schemas.ts';

const color = (title: string) =>
  ({
    type: 'string',
    title,
    default: '',
    pattern: '^(#[0-9a-fA-F]{6})?$',
    rule: 'must be a color such as #1d4ed8, or empty',
    ui: { widget: 'color' },
  }) as const;

/** How the widget looks. An empty color is that of the theme. */
export const lookSchema = group(
  { title: 'Look' },
  {
    theme: choice({ title: 'Theme', ui: { labels: { auto: "The visitor's choice" } } }, ['auto', 'light', 'dark']),
    primary_color: color('Main color'),
    text_color: color('Text'),
    background_color: color('Background'),
    user_bubble_color: color("Visitor's messages"),
    bot_bubble_color: color('Answers'),
    size: { ...choice({ title: 'Size' }, ['small', 'medium', 'large']), default: 'medium' },
    corner_radius: whole({ title: 'Corner radius (pixels)', ui: { short: true } }, 12, [0, 32]),
    icon: choice({ title: 'Icon' }, ['chat', 'robot', 'spark', 'help', 'heart']),
    avatar_url: line(
      {
        title: 'Picture instead of the icon',
        description: 'Its URL. Square pictures look best. The preview does not show pictures of other sites.',
        ui: { placeholder: 'https://' },
      },
      '',
      2_000,
    ),
    mode: choice(
      {
        title: 'Shown as',
        ui: {
          labels: { popup: 'A button that opens a window', inline: 'Part of the page', page: 'The whole page' },
        },
      },
      ['popup', 'inline', 'page'],
    ),
    position: choice({ title: 'Corner of the button' }, ['bottom-right', 'bottom-left', 'top-right', 'top-left']),
    open_after: whole(
      { title: 'Open automatically after (seconds)', description: '0 = only on click', ui: { short: true } },
      0,
      [0, 3_600],
    ),
    invite_after: whole(
      { title: 'Show the invitation after (seconds)', description: 'Its text is under Texts.', ui: { short: true } },
      5,
      [0, 3_600],
    ),
    disclose_ai: flag(
      {
        title: 'Say at each answer that AI wrote it',
        description: 'Programs see it in the attribute data-ai-generated, with this off too.',
      },
      true,
    ),
    direction: choice(
      {
        title: 'Text direction',
        ui: {
          labels: { auto: 'Same as the page', ltr: 'Left to right', rtl: 'Right to left (Arabic, Hebrew, Persian)' },
        },
      },
      ['auto', 'ltr', 'rtl'],
    ),
  },
);

/** A text of the widget that shows the built-in one while it is empty. */
function label(title: string, builtIn: string, { most = 200, description = '' } = {}) {
  const ui = { placeholder: builtIn };
  return line({ title, ...(description !== '' && { description }), ui }, builtIn, most);
}

/** Every text of the widget, so that it can be translated. An empty subtitle or footer is not shown. */
export const textsSchema = group(
  { title: 'Texts' },
  {
    title: label('Title', 'Chat with us'),
    subtitle: line({ title: 'Subtitle' }, ''),
    placeholder: label('Placeholder', 'Write a message…'),
    send: label('Send', 'Send'),
    stop: label('Stop', 'Stop'),
    retry: label('Try again', 'Try again'),
    regenerate: label('Generate a new answer', 'New answer'),
    copy: label('Copy', 'Copy'),
    copied: label('Copied', 'Copied'),
    new_chat: label('New chat', 'New chat'),
    download: label('Download the conversation', 'Download transcript'),
    open: label('Open', 'Open chat'),
    close: label('Close', 'Close chat'),
    good: label('Good answer', 'Good answer'),
    bad: label('Bad answer', 'Bad answer'),
    comment: label('Ask for a comment', 'What could be better?'),
    thanks: label('Thanks for a rating', 'Thank you for your feedback.'),
    sources: label('Sources', 'Sources'),
    typing: label('Writing indicator', 'Writing an answer…'),
    you: label("The visitor's name", 'You', { description: 'In transcripts and for screen readers.' }),
    latest: label('Go to the newest message', 'Newest messages'),
    again: label('When the limit resets', 'You can write again on {time}.', {
      description: '{time} becomes the time.',
    }),
    offline: label('No connection', 'You are offline. Your message is sent when the connection is back.', {
      most: 500,
    }),
    outage: label(
      'Not available for a moment',
      'The chat is unavailable. Your message is kept. Try again in a few seconds.',
      { most: 500 },
    ),
    error: label('Error', 'Something went wrong.', { most: 500 }),
    declined: label('Message declined', 'The assistant does not answer this message. Try other words.', {
      most: 500,
      description: 'If the model or a filter of its provider refuses a message.',
    }),
    too_long: label('Conversation too long', 'This conversation has become too long. Start a new one.', { most: 500 }),
    busy: label('Busy', 'The assistant is busy. Try again in a minute.', {
      most: 500,
      description: 'If its provider limits the rate of requests.',
    }),
    unavailable: label('Not available', 'The assistant is not available at the moment.', {
      most: 500,
      description:
        'If only an administrator can help, for example with a key that is no longer valid or a budget that is used up.',
    }),
    consent_button: label('Agree', 'Agree and start'),
    submit: label('Submit a form', 'Submit'),
    required: label('Required field is empty', 'Please fill in this field.'),
    dismiss: label('Close a message or a comment', 'Close'),
    solved: label('Ask whether the question was answered', 'Was your question answered?'),
    yes: label('Yes', 'Yes'),
    no: label('No', 'No'),
    unsolved: label('When it was not', 'What is still missing?'),
    ai: label('Author of answers', 'AI assistant', { description: 'Shown with the time of each answer.' }),
    invitation: line(
      {
        title: 'Invitation beside the button',
        description:
          'Leave empty to show none. It is shown once per visit, until the visitor closes it or opens the chat.',
        ui: { placeholder: 'Questions? Ask me.' },
      },
      '',
    ),
    footer: line({ title: 'Small print below the field' }, 'Answers are generated by AI and may be wrong.', 500),
  },
);

const unitLabels = { messages: 'messages', tokens: 'tokens' };
const limit = (title: string, amount: number) =>
  visitorLimit(title, {
    amount,
    unit: 'amount',
    members: { unit: choice({ title: `${title}: unit`, ui: { labels: unitLabels } }, ['messages', 'tokens']) },
  });

/** Limits of visitors. Guests are counted by session and by IP address; calls with the REST key are not counted. */
export const limitsSchema = group(
  { title: 'Limits' },
  {
    allow_guests: flag(
      {
        title: 'Guests may chat',
        description: 'When off, only signed-in users of this site may. On other sites, every visitor is a guest.',
      },
      true,
    ),
    guest_message: text(
      { title: 'Message to guests when guests may not chat', ui: { rows: 2 } },
      'Please sign in to chat.',
    ),
    ...visitorLimits(limit, 'You have reached the limit for now. Please come back later.'),
  },
);

export const consentSchema = group(
  { title: 'Consent' },
  {
    required: flag(
      { title: 'Ask before the first message', description: 'Nothing is sent or stored until the visitor agrees.' },
      false,
    ),
    text: text(
      {
        title: 'Consent text',
        description: 'Plain text, with links such as [privacy policy](https://example.com/privacy).',
        ui: { rows: 3 },
      },
      'Your messages are processed by an AI service to answer them. Please do not write anything confidential.',
      4_000,
    ),
  },
);

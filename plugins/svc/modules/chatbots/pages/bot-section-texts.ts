import type { BotTexts } from '../bots/bot.ts';
import type { FieldSpec } from '../../../admin-ui/setting-field.ts';
import type { Section } from './bot-section.ts';

const text = (name: keyof BotTexts, label: string, help?: string): FieldSpec => ({
  path: `texts.${name}`,
  type: 'text',
  label,
  ...(help !== undefined && { help }),
});

/** Labels that are never empty: without a text they are the built-in one. */
const optional: readonly string[] = ['subtitle', 'footer'];

/** Every text of the widget, so that it speaks any language. Emptied labels show the built-in one that takes their place. */
export function textsSection(builtIn: BotTexts): Section {
  const withBuiltIn = (spec: FieldSpec): FieldSpec => {
    const name = spec.path.slice('texts.'.length) as keyof BotTexts;
    return optional.includes(name) || builtIn[name] === '' ? spec : { ...spec, placeholder: builtIn[name] };
  };
  return { ...section, groups: section.groups.map((group) => ({ ...group, fields: group.fields.map(withBuiltIn) })) };
}

const section: Section = {
  id: 'texts',
  title: 'Texts',
  help: 'In the language of your visitors. An empty label is the built-in one.',
  groups: [
    {
      title: 'Heading and foot',
      fields: [
        text('title', 'Title'),
        text('subtitle', 'Line below it'),
        text('footer', 'Small print below the field'),
      ],
    },
    {
      title: 'Writing',
      fields: [
        text('placeholder', 'Hint in the field'),
        text('send', 'Send'),
        text('stop', 'Stop'),
        text('retry', 'Try again'),
        text('typing', 'While it writes'),
        text('you', "The visitor's name", 'In transcripts and for screen readers.'),
      ],
    },
    {
      title: 'Answers',
      fields: [
        text('regenerate', 'Make the answer anew'),
        text('copy', 'Copy'),
        text('copied', 'Copied'),
        text('sources', 'Sources'),
        text('good', 'Good answer'),
        text('bad', 'Bad answer'),
        text('comment', 'What was good or bad'),
        text('thanks', 'Thanks for the rating'),
      ],
    },
    {
      title: 'Window',
      fields: [
        text('open', 'Open'),
        text('close', 'Close'),
        text('new_chat', 'New chat'),
        text('download', 'Download the conversation'),
        text('latest', 'To the newest message'),
      ],
    },
    {
      title: 'Forms and consent',
      fields: [text('submit', 'Submit a form'), text('required', 'A field is empty'), text('consent_button', 'Agree')],
    },
    {
      title: 'Limits and failures',
      fields: [
        text('again', 'When there is more', '{time} becomes the time.'),
        text('offline', 'Without a connection'),
        text('error', 'Something failed'),
      ],
    },
  ],
};

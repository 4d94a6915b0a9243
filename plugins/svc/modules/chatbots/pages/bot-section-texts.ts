import type { BotTexts } from '../bots/bot.ts';
import type { FieldSpec } from '../../../admin-ui/setting-field.ts';
import type { Section } from './bot-section.ts';

const text = (name: keyof BotTexts, label: string, help?: string): FieldSpec => ({
  path: `texts.${name}`,
  type: 'text',
  label,
  ...(help !== undefined && { help }),
});

/** Texts that may be empty. Other texts fall back to the built-in one. */
const optional: readonly string[] = ['subtitle', 'footer'];

/** Every text of the widget, so that it can be translated. An empty field shows its built-in text as a placeholder. */
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
  help: 'Write them in the language of your visitors. Leave a label empty to use the built-in one.',
  groups: [
    {
      title: 'Header and footer',
      fields: [text('title', 'Title'), text('subtitle', 'Subtitle'), text('footer', 'Small print below the field')],
    },
    {
      title: 'Writing',
      fields: [
        text('placeholder', 'Placeholder'),
        text('send', 'Send'),
        text('stop', 'Stop'),
        text('retry', 'Try again'),
        text('typing', 'Writing indicator'),
        text('you', "The visitor's name", 'In transcripts and for screen readers.'),
      ],
    },
    {
      title: 'Answers',
      fields: [
        text('regenerate', 'Generate a new answer'),
        text('copy', 'Copy'),
        text('copied', 'Copied'),
        text('sources', 'Sources'),
        text('good', 'Good answer'),
        text('bad', 'Bad answer'),
        text('comment', 'Ask for a comment'),
        text('thanks', 'Thanks for a rating'),
      ],
    },
    {
      title: 'Window',
      fields: [
        text('open', 'Open'),
        text('close', 'Close'),
        text('new_chat', 'New chat'),
        text('download', 'Download the conversation'),
        text('latest', 'Go to the newest message'),
      ],
    },
    {
      title: 'Forms and consent',
      fields: [
        text('submit', 'Submit a form'),
        text('required', 'Required field is empty'),
        text('consent_button', 'Agree'),
      ],
    },
    {
      title: 'Limits and errors',
      fields: [
        text('again', 'When the limit resets', '{time} becomes the time.'),
        text('offline', 'No connection'),
        text('error', 'Error'),
      ],
    },
  ],
};

import { currentLocale, type HostApi } from '#plugin-api';
import type { AiForm } from '../forms/form.ts';
import { consentSchema, limitsSchema, textsSchema } from '../forms/form-schema.ts';

/** Labels and states that the form's script adds. */
const messages = {
  required: '(required)',
  choose: 'Choose…',
  file: '.txt, .md or .pdf, at most {size} MB',
  image: 'PNG, JPEG, WebP or GIF, at most {size} MB',
  sources: 'Sources',
  copy: 'Copy',
  copied: 'Copied.',
  copyRefused: 'Copying is not allowed on this page. Select the text instead.',
  downloadMarkdown: 'Download as Markdown',
  downloadText: 'Text',
  savePost: 'Save as post',
  saved: 'Saved as a draft.',
  editDraft: 'Edit the draft',
  notSaved: 'The draft was not saved. Try again.',
  stop: 'Stop',
  stopped: 'Stopped.',
  done: 'Done.',
  cut: 'The response is not complete: it reached its maximum length.',
  filtered: 'The response is not complete: a content filter removed a part.',
  invalid: 'Nothing was submitted. Correct the marked fields.',
  tryAfter: 'Try again after {time}.',
  lost: 'The connection was lost. Please try again.',
  unavailable: 'The site is not available. Please try again.',
  failed: 'Something went wrong. Please try again.',
} as const;

export type FormMessages = Readonly<Record<keyof typeof messages, string>> & {
  /** BCP 47, for dates. */
  readonly locale: string;
};

/** In the language of the site. */
export function formMessages({ i18n }: Pick<HostApi, 'i18n'>): FormMessages {
  const translated = Object.entries(messages).map(([name, text]) => [name, i18n.__(text)]);
  return { ...(Object.fromEntries(translated) as Record<keyof typeof messages, string>), locale: currentLocale() };
}

/** The form with its built-in texts in the language of the site. What an administrator wrote stays as it is. */
export function inSiteLanguage(form: AiForm, { i18n }: Pick<HostApi, 'i18n'>): AiForm {
  const translated = (text: string, builtIn: string): string => (text === builtIn ? i18n.__(builtIn) : text);
  const texts = Object.entries(textsSchema.properties).map(([name, { default: builtIn }]) => [
    name,
    translated(form.texts[name as keyof AiForm['texts']] || builtIn, builtIn),
  ]);
  return {
    ...form,
    texts: Object.fromEntries(texts) as AiForm['texts'],
    consent: { ...form.consent, text: translated(form.consent.text, consentSchema.properties.text.default) },
    limits: { ...form.limits, message: translated(form.limits.message, limitsSchema.properties.message.default) },
  };
}

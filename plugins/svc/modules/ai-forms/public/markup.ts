import { randomUUID } from 'node:crypto';
import type { HostApi } from '#plugin-api';
import type { AiForm, FormElement } from '../forms/form.ts';
import { formMessages, inSiteLanguage, type FormMessages } from './built-in-texts.ts';
import { formNamespace, uploadTypes, type FormView } from './protocol.ts';
import { maxFileSize } from '../forms/form-errors.ts';

interface FieldRowsInit {
  /** Prefix of element ids, so that several forms fit on a page. */
  readonly prefix: string;
  readonly messages: FormMessages;
  /** By id. */
  readonly values?: Readonly<Record<string, unknown>>;
  /** Messages by id. */
  readonly errors?: Readonly<Record<string, string>>;
}

const maxLength = { text: 1_000, textarea: 20_000 } as const;

function fieldRows(
  elements: readonly FormElement[],
  { prefix, messages, values = {}, errors = {} }: FieldRowsInit,
): Record<string, unknown>[] {
  return elements.map(({ id, type, label, help, placeholder, required, options, min, max }) => {
    const given = Object.hasOwn(values, id) ? values[id] : undefined;
    const chosen = Array.isArray(given) ? given : [given];
    const inputId = `${prefix}-${id}`;
    const isLine = type === 'text' || type === 'textarea';
    return {
      id,
      type,
      label,
      help,
      placeholder,
      required,
      inputId,
      error: Object.hasOwn(errors, id) ? errors[id] : undefined,
      name: `values[${id}]${type === 'checkbox' ? '[]' : ''}`,
      isGroup: type === 'radio' || type === 'checkbox',
      value: typeof given === 'string' || typeof given === 'number' ? String(given) : '',
      options: options.map((option, at) => ({
        ...option,
        optionId: `${inputId}-${String(at)}`,
        isChosen: chosen.includes(option.value),
      })),
      ...(isLine && { minlength: min ?? undefined, maxlength: max ?? maxLength[type] }),
      ...(type === 'number' && { min: min ?? undefined, max: max ?? undefined }),
      ...((type === 'file' || type === 'image') && {
        limit: messages[type].replace('{size}', String(max ?? maxFileSize)),
        accept: uploadTypes[type],
      }),
    };
  });
}

function paragraphs(text: string): string[] {
  return text
    .split(/\n\s*\n/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

export interface MarkupInit extends Omit<FieldRowsInit, 'prefix' | 'messages'> {
  readonly nonce: string;
  readonly pageUrl?: string;
  /** Message above the fields. */
  readonly failure?: string;
  readonly consent?: boolean;
}

/** Key of the consent error. No field can have this id. */
export const consentError = 'svc:consent';

/** Data of the template `svc/ai-forms/form`, which works without script. */
export function formMarkup({ rest }: Pick<HostApi, 'rest'>, view: FormView, init: MarkupInit): Record<string, unknown> {
  const submission = randomUUID();
  const prefix = `svcf-${submission.slice(0, 8)}`;
  return {
    id: view.id,
    title: view.name,
    intro: paragraphs(view.intro),
    fields: fieldRows(view.elements, { prefix, messages: view.messages, ...init }),
    action: rest.url(`/${formNamespace}/forms/${String(view.id)}/submit`),
    root: rest.url('/').replace(/\/$/, ''),
    prefix,
    submission,
    nonce: init.nonce,
    pageUrl: init.pageUrl ?? '',
    failure: init.failure,
    hasFiles: view.elements.some(({ type }) => type === 'file' || type === 'image'),
    consent: view.consent.required
      ? { ...view.consent, checked: init.consent === true, error: init.errors?.[consentError] }
      : null,
    submit: view.texts.submit,
    script: rest.url(`/${formNamespace}/form.js`),
    styles: rest.url(`/${formNamespace}/form.css`),
    view: { texts: view.texts, messages: view.messages, result: view.result },
  };
}

/** Why a form cannot be shown on this site, for administrators. Null: it can. */
export function whyHidden(form: AiForm): string | null {
  if (form.status !== 'active') return `“${form.name}” is inactive.`;
  return form.embed.enabled ? null : `Embedding is off for “${form.name}”.`;
}

export function formView(form: AiForm, host: Pick<HostApi, 'i18n'>): FormView {
  const { id, name, intro, elements, texts, result, consent } = inSiteLanguage(form, host);
  return {
    ...{ id, name, intro, elements, texts, consent, messages: formMessages(host) },
    result: { copy: result.copy, download: result.download },
  };
}

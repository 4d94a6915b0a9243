import { randomUUID } from 'node:crypto';
import type { HostApi } from '#plugin-api';
import type { AiForm } from '../forms/form.ts';
import { fieldRows, paragraphs, type FieldRowsInit } from './field-rows.ts';
import { formNamespace, type FormView } from './protocol.ts';

export interface MarkupInit extends Omit<FieldRowsInit, 'prefix'> {
  readonly nonce: string;
  readonly pageUrl?: string;
  /** Sentence above the fields. */
  readonly failure?: string;
  /** Whether consent was given. */
  readonly consent?: boolean;
}

/** Key of the error of a missing consent; no field can have it. */
export const consentError = 'svc:consent';

/** What the template `svc/ai-forms/form` shows: a form that works without script. */
export function formMarkup({ rest }: Pick<HostApi, 'rest'>, view: FormView, init: MarkupInit): Record<string, unknown> {
  const submission = randomUUID();
  const prefix = `svcf-${submission.slice(0, 8)}`;
  return {
    id: view.id,
    title: view.name,
    intro: paragraphs(view.intro),
    fields: fieldRows(view.elements, { prefix, ...init }),
    action: rest.url(`/${formNamespace}/forms/${String(view.id)}/submit`),
    root: rest.url('/').replace(/\/$/, ''),
    prefix,
    submission,
    nonce: init.nonce,
    pageUrl: init.pageUrl ?? '',
    failure: init.failure,
    hasFiles: view.elements.some(({ type }) => type === 'file'),
    consent: view.consent.required
      ? { ...view.consent, checked: init.consent === true, error: init.errors?.[consentError] }
      : null,
    submit: view.texts.submit || 'Generate',
    script: rest.url(`/${formNamespace}/form.js`),
    styles: rest.url(`/${formNamespace}/form.css`),
    view: { texts: view.texts, result: view.result },
  };
}

/** Whether a form may be shown on a page of the site itself; else why not, for administrators. */
export function whyHidden(form: AiForm): string | null {
  if (form.status !== 'active') return `“${form.name}” is not active.`;
  return form.embed.enabled ? null : `“${form.name}” may not be shown: its switch for embedding is off.`;
}

import { translateText } from '#plugin-api';
import {
  blankElement,
  filledElements,
  optionLines,
  postedText,
  readElementRows,
  type ElementDraft as BaseDraft,
} from '../../../admin-ui/element-drafts.ts';
import { builtInThanks } from '../bots/schema/rules-and-forms.ts';
import type { BotForm, FormElement } from '../forms/form.ts';

export interface ElementDraft extends BaseDraft {
  /** What fills a hidden element: a source, or `query` for the parameter below. */
  readonly source: string;
  readonly parameter: string;
}

export interface FormDraft {
  /** Id of the saved form. Empty for a new one. */
  readonly saved: string;
  readonly id: string;
  readonly name: string;
  readonly intro: string;
  readonly submit_label: string;
  readonly thanks: string;
  readonly elements: readonly ElementDraft[];
}

export function toFormDraft(form: BotForm): FormDraft {
  return {
    ...form,
    saved: form.id,
    elements: form.elements.map((element) => ({
      ...element,
      ...splitSource(element.source),
      options: optionLines(element.options),
    })),
  };
}

export function newElement(type: FormElement['type'] = 'text'): ElementDraft {
  return { ...blankElement, type, source: 'page_url', parameter: '' };
}

/** To start from, with texts in the language of the user: visitors read what is saved. */
export function newForm(): FormDraft {
  return {
    saved: '',
    id: '',
    name: '',
    intro: '',
    submit_label: '',
    thanks: translateText(builtInThanks),
    elements: [
      { ...newElement(), id: 'name', label: translateText('Name'), required: true },
      { ...newElement('email'), id: 'email', label: translateText('Email'), required: true },
    ],
  };
}

const queryPrefix = 'query:';

function splitSource(source: string): Pick<ElementDraft, 'source' | 'parameter'> {
  return source.startsWith(queryPrefix)
    ? { source: 'query', parameter: source.slice(queryPrefix.length) }
    : { source: source || 'page_url', parameter: '' };
}

/** The source as it is saved. */
export function joinSource({ source, parameter }: Pick<ElementDraft, 'source' | 'parameter'>): string {
  return source === 'query' ? queryPrefix + parameter : source;
}

/** Reads the posted form. Elements without id and label are left out, unless `keepBlank` is set. */
export function readForm(posted: Readonly<Record<string, unknown>>, keepBlank = false): FormDraft {
  const text = (path: string): string => postedText(posted, path);
  const elements = readElementRows(posted, (member) => ({
    source: member('source'),
    parameter: member('parameter').trim(),
  }));
  return {
    saved: text('form'),
    id: text('id').trim(),
    name: text('name').trim(),
    intro: text('intro'),
    submit_label: text('submit_label').trim(),
    thanks: text('thanks'),
    elements: keepBlank ? elements : filledElements(elements),
  };
}

import { valueAt } from '#plugin-api';
import type { BotForm, FormElement, FormOption } from '../forms/form.ts';

/** An element as typed in the form: its options are lines of a text. */
export interface ElementDraft {
  readonly id: string;
  readonly type: string;
  readonly label: string;
  readonly help: string;
  readonly placeholder: string;
  readonly required: boolean;
  readonly options: string;
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

const maxElements = 150;

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
  return {
    id: '',
    type,
    label: '',
    help: '',
    placeholder: '',
    required: false,
    options: '',
    source: 'page_url',
    parameter: '',
  };
}

export const newForm: FormDraft = {
  saved: '',
  id: '',
  name: '',
  intro: '',
  submit_label: '',
  thanks: 'Thank you. We have received your details.',
  elements: [
    { ...newElement(), id: 'name', label: 'Name', required: true },
    { ...newElement('email'), id: 'email', label: 'Email', required: true },
  ],
};

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

/** Reads one option per line, `value | label`. Without a label the value is shown. */
export function readOptions(typed: string): FormOption[] {
  return typed
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const bar = line.indexOf('|');
      const value = (bar === -1 ? line : line.slice(0, bar)).trim();
      return { value, label: (bar === -1 ? '' : line.slice(bar + 1).trim()) || value };
    });
}

export function optionLines(options: readonly FormOption[]): string {
  return options.map(({ value, label }) => (value === label ? value : `${value} | ${label}`)).join('\n');
}

/** Reads the posted form. Elements without id and label are left out, unless `keepBlank` is set. */
export function readForm(posted: Readonly<Record<string, unknown>>, keepBlank = false): FormDraft {
  const text = (path: string): string => {
    const value = valueAt(posted, path);
    return typeof value === 'string' ? value.replaceAll('\r\n', '\n') : '';
  };
  const rows = valueAt(posted, 'elements');
  const elements = Object.keys(typeof rows === 'object' && rows !== null ? rows : {})
    .slice(0, maxElements)
    .map((key) => ({
      id: text(`elements.${key}.id`).trim(),
      type: text(`elements.${key}.type`),
      label: text(`elements.${key}.label`).trim(),
      help: text(`elements.${key}.help`),
      placeholder: text(`elements.${key}.placeholder`).trim(),
      required: text(`elements.${key}.required`) === '1',
      options: text(`elements.${key}.options`),
      source: text(`elements.${key}.source`),
      parameter: text(`elements.${key}.parameter`).trim(),
    }));
  return {
    saved: text('form'),
    id: text('id').trim(),
    name: text('name').trim(),
    intro: text('intro'),
    submit_label: text('submit_label').trim(),
    thanks: text('thanks'),
    elements: keepBlank ? elements : elements.filter(({ id, label }) => id !== '' || label !== ''),
  };
}

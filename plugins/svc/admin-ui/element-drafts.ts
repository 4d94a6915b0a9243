import { isRecord, valueAt, type AdminRequest } from '#plugin-api';
import type { ElementOption } from '../kit/form-elements.ts';
import { readText } from './form-values.ts';
import { moveItem, readEdit, uniqueId } from './list-edits.ts';

/** A field of a form as entered, with one option per line. */
export interface ElementDraft {
  readonly id: string;
  readonly type: string;
  readonly label: string;
  readonly help: string;
  readonly placeholder: string;
  readonly required: boolean;
  readonly options: string;
}

export const blankElement = { id: '', label: '', help: '', placeholder: '', required: false, options: '' } as const;

const maxElements = 150;

/** The posted text at a path. */
export function postedText(posted: Readonly<Record<string, unknown>>, path: string): string {
  const value = valueAt(posted, path);
  return typeof value === 'string' ? value.replaceAll('\r\n', '\n') : '';
}

/** The posted rows. @param more reads the other members of a row */
export function readElementRows<More>(
  posted: Readonly<Record<string, unknown>>,
  more: (text: (name: string) => string) => More,
): (ElementDraft & More)[] {
  const rows = valueAt(posted, 'elements');
  return Object.keys(isRecord(rows) || Array.isArray(rows) ? rows : {})
    .slice(0, maxElements)
    .map((key) => {
      const text = (name: string): string => postedText(posted, `elements.${key}.${name}`);
      return {
        id: text('id').trim(),
        type: text('type'),
        label: text('label').trim(),
        help: text('help'),
        placeholder: text('placeholder').trim(),
        required: text('required') === '1',
        options: text('options'),
        ...more(text),
      };
    });
}

/** Without the rows that have neither id nor label. */
export function filledElements<Draft extends ElementDraft>(drafts: readonly Draft[]): Draft[] {
  return drafts.filter(({ id, label }) => id !== '' || label !== '');
}

/** Applies a button beside the fields (add, remove, up or down), or a field that was dragged (move). */
export function arrangeElements<Draft>(
  elements: readonly Draft[],
  request: AdminRequest,
  create: (type: string) => Draft,
): readonly Draft[] {
  const { verb, at, to } = readEdit(request.form['_do']);
  switch (verb) {
    case 'add':
      return [...elements, create(readText(request, 'add_type'))];
    case 'remove':
      return elements.filter((_element, index) => index !== at);
    case 'up':
      return moveItem(elements, at, at - 1);
    case 'down':
      return moveItem(elements, at, at + 1);
    case 'move':
      return moveItem(elements, at, to);
    default:
      return elements;
  }
}

/** The elements to save, with options as lists. An empty id is derived from the label. */
export function elementsOfDrafts<Draft extends ElementDraft>(
  drafts: readonly Draft[],
): (Omit<Draft, 'options'> & { readonly options: ElementOption[] })[] {
  const taken = drafts.map(({ id }) => id).filter((id) => id !== '');
  return drafts.map((draft) => {
    const id = draft.id === '' ? uniqueId(draft.label, taken, draft.type) : draft.id;
    taken.push(id);
    const hasOptions = ['select', 'radio', 'checkbox'].includes(draft.type);
    return { ...draft, id, options: hasOptions ? readOptions(draft.options) : [] };
  });
}

/** Reads one option per line, `value | label`. Without a label, the value is shown. */
export function readOptions(typed: string): ElementOption[] {
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

export function optionLines(options: readonly ElementOption[]): string {
  return options.map(({ value, label }) => (value === label ? value : `${value} | ${label}`)).join('\n');
}

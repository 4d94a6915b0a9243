import { readNumber, valueAt } from '#plugin-api';
import { uniqueId } from '../../../admin-ui/list-edits.ts';
import type { ElementOption, ElementType, FormElement } from '../forms/form.ts';

/** An element with entered values, with one option per line. */
export interface ElementDraft {
  readonly id: string;
  readonly type: string;
  readonly label: string;
  readonly help: string;
  readonly placeholder: string;
  readonly required: boolean;
  readonly options: string;
  readonly min: string;
  readonly max: string;
}

export const elementTypeChoices: readonly { readonly value: ElementType; readonly label: string }[] = [
  { value: 'text', label: 'Text' },
  { value: 'textarea', label: 'Long text' },
  { value: 'number', label: 'Number' },
  { value: 'select', label: 'Dropdown' },
  { value: 'radio', label: 'Radio buttons' },
  { value: 'checkbox', label: 'Checkboxes' },
  { value: 'file', label: 'File (.txt, .md or .pdf)' },
  { value: 'image', label: 'Image (for models that read images)' },
];

const maxElements = 150;

export function draftOfElement(element: FormElement): ElementDraft {
  const { options, min, max } = element;
  return {
    ...element,
    options: options.map(({ value, label }) => (value === label ? value : `${value} | ${label}`)).join('\n'),
    min: min === null ? '' : String(min),
    max: max === null ? '' : String(max),
  };
}

export function newElement(type: string): ElementDraft {
  return {
    id: '',
    type: elementTypeChoices.find(({ value }) => value === type)?.value ?? 'text',
    label: '',
    help: '',
    placeholder: '',
    required: false,
    options: '',
    min: '',
    max: '',
  };
}

/** The posted rows. Without `keepBlank`, skips elements without id and label. */
export function readElements(posted: Readonly<Record<string, unknown>>, keepBlank: boolean): ElementDraft[] {
  const rows = valueAt(posted, 'elements');
  const drafts = Object.keys(typeof rows === 'object' && rows !== null ? rows : {})
    .slice(0, maxElements)
    .map((key) => {
      const text = (name: string): string => {
        const value = valueAt(posted, `elements.${key}.${name}`);
        return typeof value === 'string' ? value.replaceAll('\r\n', '\n') : '';
      };
      return {
        id: text('id').trim(),
        type: text('type'),
        label: text('label').trim(),
        help: text('help'),
        placeholder: text('placeholder').trim(),
        required: text('required') === '1',
        options: text('options'),
        min: text('min').trim(),
        max: text('max').trim(),
      };
    });
  return keepBlank ? drafts : drafts.filter(({ id, label }) => id !== '' || label !== '');
}

/** Elements to save. An empty id is derived from the label. Invalid numbers stay text, so that the check reports them. */
export function elementsOf(drafts: readonly ElementDraft[]): FormElement[] {
  const taken = drafts.map(({ id }) => id).filter((id) => id !== '');
  return drafts.map((draft) => {
    const id = draft.id === '' ? uniqueId(draft.label, taken, draft.type) : draft.id;
    taken.push(id);
    const type = draft.type as ElementType;
    return {
      ...draft,
      id,
      type,
      options: ['select', 'radio', 'checkbox'].includes(type) ? readOptions(draft.options) : [],
      min: ['file', 'image', 'select', 'radio'].includes(type) ? null : readBound(draft.min),
      max: type === 'select' || type === 'radio' ? null : readBound(draft.max),
    };
  });
}

/** Null if empty. */
const readBound = (typed: string): number | null => (readNumber(typed) ?? null) as number | null;

/** One `value | label` per line. Without a label, the value is the label. */
function readOptions(typed: string): ElementOption[] {
  return typed
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const bar = line.indexOf('|');
      const value = (bar === -1 ? line : line.slice(0, bar)).trim();
      return { value, label: (bar === -1 ? '' : line.slice(bar + 1).trim()) || value };
    });
}

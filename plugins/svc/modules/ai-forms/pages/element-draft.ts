import { uniqueId } from '../../../admin-ui/list-edits.ts';
import { readNumber, valueAt, type Draft } from '../../../admin-ui/setting-field.ts';
import type { ElementOption, ElementType, FormElement } from '../forms/form.ts';

/** An element as it is typed: its options one a line. */
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

/** Kinds of fields. */
export const elementKinds: readonly { readonly value: ElementType; readonly label: string }[] = [
  { value: 'text', label: 'Line of text' },
  { value: 'textarea', label: 'Text of several lines' },
  { value: 'number', label: 'Number' },
  { value: 'select', label: 'List to choose from' },
  { value: 'radio', label: 'Choices, one of them' },
  { value: 'checkbox', label: 'Choices, several of them' },
  { value: 'file', label: 'File (txt, md, pdf)' },
];

const mostElements = 150;

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
    type: elementKinds.find(({ value }) => value === type)?.value ?? 'text',
    label: '',
    help: '',
    placeholder: '',
    required: false,
    options: '',
    min: '',
    max: '',
  };
}

/** The posted rows. Elements without id and label were never filled in: they are left out unless `keepBlank`. */
export function readElements(posted: Draft, keepBlank: boolean): ElementDraft[] {
  const rows = valueAt(posted, 'elements');
  const drafts = Object.keys(typeof rows === 'object' && rows !== null ? rows : {})
    .slice(0, mostElements)
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

/** Elements as they are saved, or refused: one without an id gets one after its label; what is no number stays a text. */
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
      min: type === 'file' || type === 'select' || type === 'radio' ? null : (readNumber(draft.min) as number | null),
      max: type === 'select' || type === 'radio' ? null : (readNumber(draft.max) as number | null),
    };
  });
}

/** `value | label`, one a line; a line without a label is its own. */
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

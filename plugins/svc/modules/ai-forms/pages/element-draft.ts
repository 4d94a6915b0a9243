import { readNumber } from '#plugin-api';
import { blankElement, elementsOfDrafts, optionLines, readElementRows } from '../../../admin-ui/element-drafts.ts';
import type { ElementDraft as BaseDraft } from '../../../admin-ui/element-drafts.ts';
import type { ElementType, FormElement } from '../forms/form.ts';

export interface ElementDraft extends BaseDraft {
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

export function draftOfElement(element: FormElement): ElementDraft {
  const bound = (value: number | null): string => (value === null ? '' : String(value));
  return {
    ...element,
    options: optionLines(element.options),
    min: bound(element.min),
    max: bound(element.max),
  };
}

export function newElement(type: string): ElementDraft {
  const known = elementTypeChoices.find(({ value }) => value === type)?.value ?? 'text';
  return { ...blankElement, type: known, min: '', max: '' };
}

/** The posted rows. */
export function readElements(posted: Readonly<Record<string, unknown>>): ElementDraft[] {
  return readElementRows(posted, (text) => ({ min: text('min').trim(), max: text('max').trim() }));
}

/** Elements to save. Invalid numbers stay text, so that the check reports them. */
export function elementsOf(drafts: readonly ElementDraft[]): FormElement[] {
  return elementsOfDrafts(drafts).map((draft) => {
    const type = draft.type as ElementType;
    return {
      ...draft,
      type,
      min: ['file', 'image', 'select', 'radio'].includes(type) ? null : readBound(draft.min),
      max: type === 'select' || type === 'radio' ? null : readBound(draft.max),
    };
  });
}

/** Null if empty. */
const readBound = (typed: string): number | null => (readNumber(typed) ?? null) as number | null;

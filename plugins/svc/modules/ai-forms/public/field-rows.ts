import type { FormElement } from '../forms/form.ts';
import { largestFile } from '../forms/form-errors.ts';

export interface FieldRowsInit {
  /** Begins the ids of the page's elements, so that two forms in a page do not share any. */
  readonly prefix: string;
  /** What was filled in, by id. */
  readonly values?: Readonly<Record<string, unknown>>;
  /** Sentences, by id. */
  readonly errors?: Readonly<Record<string, string>>;
}

const longest = { text: 1_000, textarea: 20_000 } as const;

/** The fields of a form as the template `svc/ai-forms/form` shows them. */
export function fieldRows(
  elements: readonly FormElement[],
  { prefix, values = {}, errors = {} }: FieldRowsInit,
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
      ...(isLine && { minlength: min ?? undefined, maxlength: max ?? longest[type] }),
      ...(type === 'number' && { min: min ?? undefined, max: max ?? undefined }),
      ...(type === 'file' && { limit: `.txt, .md or .pdf, at most ${String(max ?? largestFile)} MB` }),
    };
  });
}

/** Plain text as paragraphs. */
export function paragraphs(text: string): string[] {
  return text
    .split(/\n\s*\n/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

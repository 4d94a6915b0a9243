import type { FieldErrors } from '../kit/field-errors.ts';

/** One control of an editor, and the member of the settings that it edits. */
export interface FieldSpec {
  /** Path of the member, for example `look.theme`. */
  readonly path: string;
  /** `lines`: a list of texts, one per line. `color`: `#rrggbb` or empty. */
  readonly type: 'text' | 'url' | 'textarea' | 'number' | 'select' | 'switch' | 'color' | 'lines';
  readonly label: string;
  readonly help?: string;
  readonly placeholder?: string;
  readonly required?: boolean;
  readonly min?: number;
  readonly max?: number;
  readonly step?: number | 'any';
  readonly maxlength?: number;
  readonly rows?: number;
  readonly mono?: boolean;
  readonly short?: boolean;
  readonly options?: readonly Choice[];
  /** Whether the values of `options` are numbers. */
  readonly numeric?: boolean;
  /** Id of a `datalist` with suggestions. */
  readonly list?: string;
}

export interface Choice {
  readonly value: string;
  readonly label: string;
}

/** Stored or entered settings. Entered members may have any type. */
export type Draft = Readonly<Record<string, unknown>>;

/** Values of the partial `admin/field`, and of `svc/bot-color` for a color. */
export type FieldRow = Omit<FieldSpec, 'type'> & {
  readonly type: string;
  readonly id: string;
  readonly name: string;
  readonly value: unknown;
  readonly error?: string;
};

/** `look.theme` -> `look[theme]`. */
export function inputName(path: string): string {
  const [head = '', ...rest] = path.split(/[.[\]]+/).filter((part) => part !== '');
  return head + rest.map((part) => `[${part}]`).join('');
}

/** `look.primary_color` -> `bot-look-primary_color`. */
export function inputId(path: string): string {
  return `bot-${path
    .split(/[.[\]]+/)
    .filter((part) => part !== '')
    .join('-')}`;
}

export function valueAt(draft: Draft, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, key) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? (value as Draft)[key] : undefined,
      draft,
    );
}

/** The data of a field for its template. */
export function fieldRow(
  spec: FieldSpec,
  { draft, errors }: { readonly draft: Draft; readonly errors: FieldErrors },
): FieldRow {
  const value = valueAt(draft, spec.path);
  const error = errorAt(errors, spec);
  return {
    ...spec,
    id: inputId(spec.path),
    name: inputName(spec.path),
    type: spec.type === 'lines' ? 'textarea' : spec.type,
    value: Array.isArray(value)
      ? value.join('\n')
      : typeof value === 'object'
        ? ''
        : spec.numeric === true
          ? String(value)
          : value,
    ...(error !== undefined && { error }),
    ...(spec.type === 'number' && spec.step === undefined && { step: 1 }),
  };
}

/**
 * The error of a member, or of the first invalid line of a list. Sentences begin with the path, for commands; in a form, the
 * label replaces it.
 */
export function errorAt(errors: FieldErrors, { path, label }: Pick<FieldSpec, 'path' | 'label'>): string | undefined {
  const named =
    Object.keys(errors).find((name) => name === path) ??
    Object.keys(errors).find((name) => name.startsWith(`${path}[`) || name.startsWith(`${path}.`));
  if (named === undefined) return undefined;
  const line = Number(/^\[(\d+)\]/.exec(named.slice(path.length))?.[1]);
  const sentence = errors[named] ?? '';
  const subject = Number.isInteger(line) ? `Line ${String(line + 1)}` : label;
  return sentence.startsWith(named) ? subject + sentence.slice(named.length) : sentence;
}

/** Reads the entered fields as settings. An invalid number stays text, so that it is rejected and shown again. */
export function readFields(specs: readonly FieldSpec[], form: Draft): Record<string, unknown> {
  const settings: Record<string, unknown> = {};
  for (const spec of specs) {
    const typed = valueAt(form, spec.path);
    if (typeof typed === 'string') putAt(settings, spec.path.split('.'), readValue(spec, typed));
  }
  return settings;
}

function readValue({ type, path, numeric }: FieldSpec, typed: string): unknown {
  if (numeric === true) return readNumber(typed);
  if (type === 'switch') return typed === '1';
  if (type === 'lines') return readLines(typed);
  if (type === 'number') return readNumber(typed);
  if (type === 'color' || type === 'url' || path === 'name') return typed.trim();
  return typed.replaceAll('\r\n', '\n');
}

/** Null if empty. An invalid number stays text, so that it is rejected and shown again. */
export function readNumber(typed: string): number | string | null {
  const text = typed.trim();
  if (text === '') return null;
  const number = Number(text);
  return Number.isFinite(number) ? number : text;
}

/** The trimmed lines that are not blank. */
export function readLines(typed: string): string[] {
  return typed
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** Sets the value at a path and creates missing objects. */
export function putAt(settings: Record<string, unknown>, keys: readonly string[], value: unknown): void {
  const [key = '', ...rest] = keys;
  if (rest.length === 0) {
    settings[key] = value;
    return;
  }
  const inner = (settings[key] ?? {}) as Record<string, unknown>;
  settings[key] = inner;
  putAt(inner, rest, value);
}

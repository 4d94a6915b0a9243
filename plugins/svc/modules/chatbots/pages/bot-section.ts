import type { FieldSpec } from '../../../admin-ui/setting-field.ts';

/** Fields that belong together, side by side if the window is wide enough. */
export interface FieldGroup {
  readonly title?: string;
  readonly help?: string;
  readonly fields: readonly FieldSpec[];
  /** Each field takes the whole line. */
  readonly wide?: boolean;
}

/** A part of the editor with its own anchor. */
export interface Section {
  readonly id: string;
  readonly title: string;
  readonly help?: string;
  readonly groups: readonly FieldGroup[];
}

/** Options of a select. Without a label, a name becomes one: `bottom-right` -> `Bottom right`. */
export function choices(
  names: readonly string[],
  labels: Readonly<Record<string, string>> = {},
): { value: string; label: string }[] {
  return names.map((name) => ({ value: name, label: labels[name] ?? capitalize(name.replaceAll(/[-_]/g, ' ')) }));
}

export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

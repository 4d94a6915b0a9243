import type { FieldSpec } from '../../../admin-ui/setting-field.ts';

/** Fields that belong together, side by side where there is room. */
export interface FieldGroup {
  readonly title?: string;
  readonly help?: string;
  readonly fields: readonly FieldSpec[];
  /** Each field takes the whole line. */
  readonly wide?: boolean;
}

/** A part of the editor with an anchor of its own. */
export interface Section {
  readonly id: string;
  readonly title: string;
  readonly help?: string;
  readonly groups: readonly FieldGroup[];
}

/** Names as things to choose from: `bottom-right` -> `Bottom right`. */
export function choices(
  names: readonly string[],
  labels: Readonly<Record<string, string>> = {},
): { value: string; label: string }[] {
  return names.map((name) => ({ value: name, label: labels[name] ?? capitalised(name.replaceAll(/[-_]/g, ' ')) }));
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

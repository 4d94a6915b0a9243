import type { FieldErrors } from '../../../kit/field-errors.ts';
import {
  fieldRow,
  readFields,
  readNumber,
  valueAt,
  type Draft,
  type FieldRow,
  type FieldSpec,
} from '../../../admin-ui/setting-field.ts';
import { choices, type Section } from './bot-section.ts';

const units = choices(['messages', 'tokens']).map(({ value }) => ({ value, label: value }));
const periods = choices(['day', 'week', 'month'], { day: 'a day', week: 'a week', month: 'a month' });

/** The three controls of a limit. `who` names them for those who do not see the line they stand in. */
export function limitFields(path: string, who: string): readonly FieldSpec[] {
  return [
    { path: `${path}.amount`, type: 'number', label: `${who}: how many`, min: 0 },
    { path: `${path}.unit`, type: 'select', label: `${who}: of what`, options: units },
    { path: `${path}.per`, type: 'select', label: `${who}: in which time`, options: periods },
  ];
}

/** Limits themselves stand in `bot-limit-rows.ts`: those of roles depend on the site. */
export const limitsSection: Section = {
  id: 'limits',
  title: 'Limits',
  help: "What one visitor may use, counted by the site's time zone; weeks begin on Monday. 0 or nothing: no limit.",
  groups: [
    { wide: true, fields: [{ path: 'limits.message', type: 'textarea', label: 'Message at the limit', rows: 2 }] },
  ],
};

/** Roles of the site; others that a bot has limits for are shown as well. */
const siteRoles = ['subscriber', 'contributor', 'author', 'editor', 'administrator'];

export interface LimitRow {
  readonly title: string;
  readonly fields: readonly FieldRow[];
}

/** A line for guests, one for users, and one for each role. */
export function limitRows(state: { readonly draft: Draft; readonly faults: FieldErrors }): LimitRow[] {
  const saved = valueAt(state.draft, 'limits.roles');
  const roles = [...new Set([...siteRoles, ...Object.keys(typeof saved === 'object' && saved !== null ? saved : {})])];
  const lines = [
    ['limits.guest', 'Guests'],
    ['limits.user', 'Signed-in users'],
    ...roles.map((role) => [`limits.roles.${role}`, `Role ${role}`]),
  ];
  return lines.map(([path = '', title = '']) => ({
    title,
    fields: limitFields(path, title).map((spec) => fieldRow(spec, state)),
  }));
}

/** The limits that were typed: nothing is none, and a role without an amount has no limit of its own. */
export function readLimits(form: Draft): Record<string, unknown> {
  const limits = valueAt(form, 'limits');
  if (typeof limits !== 'object' || limits === null) return {};
  const roles = valueAt(form, 'limits.roles');
  const names = Object.keys(typeof roles === 'object' && roles !== null ? roles : {});
  const limitOf = (path: string): Record<string, unknown> => ({
    amount: readNumber(String(valueAt(form, `${path}.amount`) ?? '')) ?? 0,
    unit: valueAt(form, `${path}.unit`) ?? 'messages',
    per: valueAt(form, `${path}.per`) ?? 'day',
  });
  return {
    guest: limitOf('limits.guest'),
    user: limitOf('limits.user'),
    roles: Object.fromEntries(
      names
        .map((role) => [role, limitOf(`limits.roles.${role}`)])
        .filter(([role]) => String(valueAt(form, `limits.roles.${String(role)}.amount`) ?? '').trim() !== ''),
    ) as unknown,
    ...(readFields([{ path: 'limits.message', type: 'textarea', label: '' }], form)['limits'] as Draft | undefined),
  };
}

import type { FieldErrors } from '../../../kit/field-errors.ts';
import {
  fieldRow,
  readNumber,
  valueAt,
  type Draft,
  type FieldRow,
  type FieldSpec,
} from '../../../admin-ui/setting-field.ts';

/** Roles of the site; others that a form has limits for are shown as well. */
const siteRoles = ['subscriber', 'contributor', 'author', 'editor', 'administrator'];
const periods = [
  { value: 'day', label: 'a day' },
  { value: 'week', label: 'a week' },
  { value: 'month', label: 'a month' },
];

/** A line for guests, one for users, and one for each role. */
export function limitRows(state: {
  readonly draft: Draft;
  readonly errors: FieldErrors;
}): { readonly title: string; readonly fields: readonly FieldRow[] }[] {
  const saved = valueAt(state.draft, 'limits.roles');
  const roles = [...new Set([...siteRoles, ...Object.keys(typeof saved === 'object' && saved !== null ? saved : {})])];
  const lines = [
    ['limits.guest', 'Guests'],
    ['limits.user', 'Signed-in users'],
    ...roles.map((role) => [`limits.roles.${role}`, `Role ${role}`]),
  ];
  return lines.map(([path = '', title = '']) => ({
    title,
    fields: fieldsOf(path, title).map((spec) => fieldRow(spec, state)),
  }));
}

function fieldsOf(path: string, who: string): readonly FieldSpec[] {
  return [
    { path: `${path}.amount`, type: 'number', label: `${who}: how many answers`, min: 0 },
    { path: `${path}.per`, type: 'select', label: `${who}: in which time`, options: periods },
  ];
}

/** The limits that were typed: nothing is none, and a role without an amount has no limit of its own. */
export function readLimits(form: Draft): Record<string, unknown> {
  const roles = valueAt(form, 'limits.roles');
  const names = Object.keys(typeof roles === 'object' && roles !== null ? roles : {});
  const amount = (path: string): string => String(valueAt(form, `${path}.amount`) ?? '').trim();
  const limitOf = (path: string): Record<string, unknown> => ({
    amount: readNumber(amount(path)) ?? 0,
    per: valueAt(form, `${path}.per`) ?? 'day',
  });
  return {
    guest: limitOf('limits.guest'),
    user: limitOf('limits.user'),
    roles: Object.fromEntries(
      names
        .filter((role) => amount(`limits.roles.${role}`) !== '')
        .map((role) => [role, limitOf(`limits.roles.${role}`)]),
    ),
    message: String(valueAt(form, 'limits.message') ?? '').replaceAll('\r\n', '\n'),
  };
}

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
import { capitalize, choices, type Section } from './bot-section.ts';

const units = choices(['messages', 'tokens'], { messages: 'messages', tokens: 'tokens' });
const periods = choices(['day', 'week', 'month'], { day: 'per day', week: 'per week', month: 'per month' });

/** The three controls of a limit. `who` names them for screen readers. */
export function limitFields(path: string, who: string): readonly FieldSpec[] {
  return [
    { path: `${path}.amount`, type: 'number', label: `${who}: amount`, min: 0 },
    { path: `${path}.unit`, type: 'select', label: `${who}: unit`, options: units },
    { path: `${path}.per`, type: 'select', label: `${who}: period`, options: periods },
  ];
}

/** The limits themselves are rows (`limitRows`), because roles depend on the bot. */
export const limitsSection: Section = {
  id: 'limits',
  title: 'Limits',
  help: "How much one visitor may use, in the site's time zone; weeks begin on Monday. Leave empty for no limit.",
  groups: [
    {
      wide: true,
      fields: [
        {
          path: 'limits.allow_guests',
          type: 'switch',
          label: 'Guests may chat',
          help: 'When off, only signed-in users of this site may. On other sites, every visitor is a guest.',
        },
        {
          path: 'limits.guest_message',
          type: 'textarea',
          label: 'Message to guests when guests may not chat',
          rows: 2,
        },
      ],
    },
    { wide: true, fields: [{ path: 'limits.message', type: 'textarea', label: 'Message at the limit', rows: 2 }] },
  ],
};

/** Roles of the site. Other roles that a bot has limits for are added. */
const siteRoles = ['subscriber', 'contributor', 'author', 'editor', 'administrator'];

export interface LimitRow {
  readonly title: string;
  readonly fields: readonly FieldRow[];
}

/** One row for guests, one for users, and one for each role. */
export function limitRows(state: { readonly draft: Draft; readonly errors: FieldErrors }): LimitRow[] {
  const saved = valueAt(state.draft, 'limits.roles');
  const roles = [...new Set([...siteRoles, ...Object.keys(typeof saved === 'object' && saved !== null ? saved : {})])];
  const lines = [
    ['limits.guest', 'Guests'],
    ['limits.user', 'Signed-in users'],
    ...roles.map((role) => [`limits.roles.${role}`, `${capitalize(role)} role`]),
  ];
  return lines.map(([path = '', title = '']) => ({
    title,
    fields: limitFields(path, title).map((spec) => fieldRow(spec, state)),
  }));
}

/** Reads the posted limits. Roles without an amount are left out, so that the limit of users applies. */
export function readLimits(form: Draft): Record<string, unknown> {
  const limits = valueAt(form, 'limits');
  if (typeof limits !== 'object' || limits === null) return {};
  const roles = valueAt(form, 'limits.roles');
  const names = Object.keys(typeof roles === 'object' && roles !== null ? roles : {});
  const readLimit = (path: string): Record<string, unknown> => ({
    amount: readNumber(String(valueAt(form, `${path}.amount`) ?? '')) ?? 0,
    unit: valueAt(form, `${path}.unit`) ?? 'messages',
    per: valueAt(form, `${path}.per`) ?? 'day',
  });
  return {
    guest: readLimit('limits.guest'),
    user: readLimit('limits.user'),
    roles: Object.fromEntries(
      names
        .map((role) => [role, readLimit(`limits.roles.${role}`)])
        .filter(([role]) => String(valueAt(form, `limits.roles.${String(role)}.amount`) ?? '').trim() !== ''),
    ) as unknown,
    ...(readFields(
      limitsSection.groups.flatMap(({ fields }) => fields),
      form,
    )['limits'] as Draft | undefined),
  };
}

import { choices, type Section } from './bot-section.ts';
import type { FieldSpec } from '../../../admin-ui/setting-field.ts';

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

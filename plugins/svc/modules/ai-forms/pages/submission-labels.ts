import type { ReadState, Submission } from '../submissions/submission.ts';

export const statusBadges = {
  completed: { text: 'Completed', kind: 'success' },
  failed: { text: 'Failed', kind: 'error' },
  running: { text: 'Running', kind: 'info' },
} as const;

export const readStateLabels: Readonly<Record<ReadState, string>> = { new: 'New', read: 'Read', archived: 'Archived' };

/** The form with the number of the submission, and the first value. */
export function titleOf({ number, formName, display_values: values }: Submission): string {
  const first = Object.values(values).find((value) => value !== '');
  return [
    number === null ? formName : `${formName} ${String(number)}`,
    ...(first === undefined ? [] : [first.replace(/\s+/g, ' ').slice(0, 70)]),
  ].join(' · ');
}

export function personOf({ userId }: Submission, users: ReadonlyMap<number, string>): string {
  return userId > 0 ? (users.get(userId) ?? `User ${String(userId)}`) : 'Guest';
}

import type { AdminActionResult } from './admin.ts';

/** What an action of an admin page returns: a notice, and the other members of the result. */
export function withNotice(
  kind: NonNullable<AdminActionResult['notice']>['kind'],
  text: string,
  more: Omit<AdminActionResult, 'notice'> = {},
): AdminActionResult {
  return { ...more, notice: { kind, text } };
}

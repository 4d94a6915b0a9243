import { backToList, formatCount, notSelected, readTextIds, withNotice } from '#plugin-api';
import type { AdminActionResult, AdminRequest } from '#plugin-api';
import { readText } from '../../../admin-ui/form-values.ts';
import type { AiForms } from '../ai-forms.ts';
import { readStates, type ReadState } from '../submissions/submission.ts';
import { submissionsSlug } from './form-pages.ts';

type Parts = Pick<AiForms, 'submissions'>;

const labels: Readonly<Record<ReadState, string>> = {
  read: 'Mark as read',
  new: 'Mark as unread',
  archived: 'Archive',
};
const results: Readonly<Record<ReadState, (submissions: string) => string>> = {
  read: (submissions) => `${submissions} marked as read.`,
  new: (submissions) => `${submissions} marked as unread.`,
  archived: (submissions) => `${submissions} archived.`,
};

/** The changes that a list or a submission in a state offers. */
export function changesOf(current?: ReadState): readonly { readonly value: ReadState; readonly label: string }[] {
  return (['read', 'new', 'archived'] as const)
    .filter((value) => value !== current)
    .map((value) => ({ value, label: labels[value] }));
}

export function markOne(parts: Parts, request: AdminRequest): Promise<AdminActionResult> {
  return mark(parts, request, { ids: [readText(request, 'id')], asked: request.form['state'] });
}

export function deleteOne(parts: Parts, request: AdminRequest): Promise<AdminActionResult> {
  return remove(parts, request, [readText(request, 'id')]);
}

/** Marks or deletes the checked submissions. */
export function changeSelected(parts: Parts, request: AdminRequest): Promise<AdminActionResult> {
  const ids = readTextIds(request);
  return request.form['do'] === 'delete'
    ? remove(parts, request, ids)
    : mark(parts, request, { ids, asked: request.form['do'] });
}

async function mark(
  { submissions }: Parts,
  request: AdminRequest,
  { ids, asked }: { readonly ids: readonly string[]; readonly asked: unknown },
): Promise<AdminActionResult> {
  const state = readStates.find((one) => one === asked);
  if (state === undefined) throw notSelected();
  const count = await submissions.mark(ids, state);
  return changed(request, count, results[state]);
}

async function remove(
  { submissions }: Parts,
  request: AdminRequest,
  ids: readonly string[],
): Promise<AdminActionResult> {
  const count = await submissions.delete(ids);
  if (count > 0)
    request.log.info('Deleted form submissions', {
      event: 'form_submission_deleted',
      submissions: ids,
      user_id: request.user.id,
    });
  return changed(request, count, (deleted) => `${deleted} deleted.`);
}

function changed(request: AdminRequest, count: number, sentence: (submissions: string) => string): AdminActionResult {
  const { redirect } = backToList(request, submissionsSlug, ['form', 'status', 'state', 'search']);
  return count === 0
    ? withNotice('info', 'Nothing was changed: these submissions no longer exist.', { redirect })
    : withNotice('success', sentence(formatCount(count, 'submission')), { redirect });
}

import { backToList, formatCount, notSelected, readTextIds, withNotice } from '#plugin-api';
import type { AdminActionResult, AdminRequest } from '#plugin-api';
import { readStates, type ReadFilter, type ReadState, type ReadStates } from '../kit/submissions/read-states.ts';
import { readText } from './form-values.ts';

/** The list whose submissions change. */
interface ChangedList {
  readonly store: Pick<ReadStates<ReadFilter>, 'mark' | 'delete'>;
  readonly slugs: { readonly list: string };
  /** Its own filters, by name. */
  readonly filters: Readonly<Record<string, unknown>>;
}

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

/** The actions of a submission. */
export function submissionActions(list: ChangedList) {
  return {
    mark: (request: AdminRequest) =>
      mark(list, request, { ids: [readText(request, 'id')], asked: request.form['state'] }),
    delete: (request: AdminRequest) => remove(list, request, [readText(request, 'id')]),
  };
}

/** Marks or deletes the checked submissions. */
export function changeSelected(list: ChangedList, request: AdminRequest): Promise<AdminActionResult> {
  const ids = readTextIds(request);
  return request.form['do'] === 'delete'
    ? remove(list, request, ids)
    : mark(list, request, { ids, asked: request.form['do'] });
}

async function mark(
  list: ChangedList,
  request: AdminRequest,
  { ids, asked }: { readonly ids: readonly string[]; readonly asked: unknown },
): Promise<AdminActionResult> {
  const state = readStates.find((one) => one === asked);
  if (state === undefined) throw notSelected();
  return changed(list, request, { count: await list.store.mark(ids, state), sentence: results[state] });
}

async function remove(list: ChangedList, request: AdminRequest, ids: readonly string[]): Promise<AdminActionResult> {
  const count = await list.store.delete(ids);
  if (count > 0)
    request.log.info('Deleted form submissions', {
      event: 'form_submission_deleted',
      submissions: ids,
      user_id: request.user.id,
    });
  return changed(list, request, { count, sentence: (deleted) => `${deleted} deleted.` });
}

function changed(
  { slugs, filters }: ChangedList,
  request: AdminRequest,
  { count, sentence }: { readonly count: number; readonly sentence: (submissions: string) => string },
): AdminActionResult {
  const { redirect } = backToList(request, slugs.list, [...Object.keys(filters), 'state', 'search']);
  return count === 0
    ? withNotice('info', 'Nothing was changed: these submissions no longer exist.', { redirect })
    : withNotice('success', sentence(formatCount(count, 'submission')), { redirect });
}

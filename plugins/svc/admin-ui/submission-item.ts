import { requireFound, type AdminPageBody } from '#plugin-api';
import type { ReadFilter } from '../kit/submissions/read-states.ts';
import { changesOf, submissionActions } from './submission-actions.ts';
import { stateLabels, type ShownSubmission, type SubmissionKind } from './submission-kind.ts';

/** A submission. Opening a new one marks it as read. */
export function submissionPage<Submission extends ShownSubmission, Filter extends ReadFilter>(
  kind: SubmissionKind<Submission, Filter>,
): AdminPageBody {
  const { store, trail } = kind;
  return {
    render: async ({ query }) => {
      const { id, back } = query;
      const submission = requireFound(typeof id === 'string' ? await store.find(id) : null, {
        code: 'rest_svc_submission_not_found',
        status: 404,
        message: 'Submission not found. It may have been deleted.',
      });
      if (submission.readState === 'new') await store.mark([submission.id], 'read');
      const data = await itemData(kind, submission, back);
      return {
        template: 'svc/submission',
        title: data.title,
        ...(trail && { trail }),
        data,
      };
    },
    actions: submissionActions(kind),
  };
}

async function itemData<Submission extends ShownSubmission, Filter extends ReadFilter>(
  { details }: SubmissionKind<Submission, Filter>,
  submission: Submission,
  back: unknown,
) {
  const { id, labels, display_values: values, pageUrl, createdAt } = submission;
  const readState = submission.readState === 'archived' ? 'archived' : 'read';
  const fields = { id, back: typeof back === 'string' ? back : '' };
  return {
    ...(await details(submission)),
    createdAt,
    // The browser of the visitor sends this address, so only http and https become links.
    pageUrl: /^https?:\/\//i.test(pageUrl) ? pageUrl : '',
    stateBadge: { text: stateLabels[readState] },
    answers: Object.entries(labels).map(([key, label]) => ({ label, value: values[key] || '-' })),
    changes: changesOf(readState).map(({ value, label }) => ({ label, fields: { ...fields, state: value } })),
    deleteFields: fields,
  };
}

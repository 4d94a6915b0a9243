import { formatMoney, requireFound, type AdminPageBody, type AdminRequest } from '#plugin-api';
import { markdownToHtml } from '../../../kit/markdown-html.ts';
import type { AiForms } from '../ai-forms.ts';
import type { Submission } from '../submissions/submission.ts';
import { submissionsSlug } from './form-pages.ts';
import { changesOf, deleteOne, markOne } from './submission-actions.ts';
import { personOf, readStateLabels, statusBadges, titleOf } from './submission-labels.ts';

/** One submission with its response. Opening a new one marks it as read. */
export function createPage(parts: AiForms): AdminPageBody {
  const { host, submissions } = parts;
  return {
    render: async (request) => {
      const submission = await findSubmission(parts, request);
      if (submission.readState === 'new') await submissions.mark([submission.id], 'read');
      return {
        template: 'svc/ai-form-submission',
        title: titleOf(submission),
        trail: [{ title: 'Form submissions', href: host.admin.url(submissionsSlug) }],
        data: await view(parts, submission, request.query['back']),
      };
    },
    actions: {
      mark: (request) => markOne(parts, request),
      delete: (request) => deleteOne(parts, request),
    },
  };
}

/** @throws RestError 404. */
async function findSubmission({ submissions }: AiForms, { query }: AdminRequest): Promise<Submission> {
  const { id } = query;
  return requireFound(typeof id === 'string' ? await submissions.find(id) : null, {
    code: 'rest_svc_submission_not_found',
    status: 404,
    message: 'Submission not found. It may have been deleted.',
  });
}

async function view({ host }: AiForms, submission: Submission, back: unknown): Promise<Record<string, unknown>> {
  const { id, status, userId, pageUrl, labels, display_values: values, response, generation, error } = submission;
  const readState = submission.readState === 'archived' ? 'archived' : 'read';
  const fields = { id, back: typeof back === 'string' ? back : '' };
  return {
    pageUrl,
    error,
    title: titleOf(submission),
    createdAt: submission.createdAt,
    badge: statusBadges[status],
    stateBadge: { text: readStateLabels[readState] },
    person: personOf(submission, await host.users.names(userId > 0 ? [userId] : [])),
    answers: Object.entries(labels).map(([key, label]) => ({ label, value: values[key] || '-' })),
    response: response === '' ? null : host.views.safe(await markdownToHtml(response)),
    generation:
      generation === null
        ? null
        : {
            ...generation,
            tokens: generation.usage.total_tokens,
            cost: generation.cost === null ? null : formatMoney(generation.cost),
          },
    changes: changesOf(readState).map(({ value, label }) => ({ label, fields: { ...fields, state: value } })),
    deleteFields: fields,
  };
}

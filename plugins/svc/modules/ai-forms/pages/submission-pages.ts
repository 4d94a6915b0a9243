import { formatMoney, translateText, type AdminPageBody } from '#plugin-api';
import { recordField } from '../../../admin-ui/form-values.ts';
import { readIdValue, type SubmissionKind } from '../../../admin-ui/submission-kind.ts';
import { submissionPage as itemPage } from '../../../admin-ui/submission-item.ts';
import { submissionsPage as listPage } from '../../../admin-ui/submission-list.ts';
import { markdownToHtml } from '../../../kit/markdown-html.ts';
import type { AiForms } from '../ai-forms.ts';
import type { Submission, SubmissionFilter } from '../submissions/submission.ts';
import { submissionRecord, submissionsCsv } from '../submissions/submissions-export.ts';
import { formsSlug, submissionSlug, submissionsSlug } from './form-pages.ts';

const statuses = ['completed', 'failed', 'running'] as const;
const statusBadges = {
  completed: { text: 'Completed', kind: 'success' },
  failed: { text: 'Failed', kind: 'error' },
  running: { text: 'Running', kind: 'info' },
} as const;

/** The submissions of all forms or of one. */
export function submissionsPage(parts: AiForms): AdminPageBody {
  return listPage(submissionKind(parts));
}

/** A submission with its response. */
export function submissionPage(parts: AiForms): AdminPageBody {
  return itemPage(submissionKind(parts));
}

function submissionKind({ host, forms, submissions }: AiForms): SubmissionKind<Submission, SubmissionFilter> {
  return {
    host,
    store: submissions,
    slugs: { list: submissionsSlug, item: submissionSlug },
    trail: [{ title: 'Form submissions', href: host.admin.url(submissionsSlug) }],
    file: 'form-submissions',
    empty: {
      text: 'Submitted forms and their responses appear here.',
      href: host.admin.url(formsSlug),
      label: 'All forms',
    },
    searchLabel: 'Search fields and responses',
    columns: [{ label: 'Submission' }, { label: 'Status' }, { label: 'Form' }, { label: 'By' }, { label: 'Submitted' }],
    filters: { form: readIdValue, status: (value) => statuses.find((one) => one === value) ?? '' },
    toFilter: ({ form = '', status }) => ({
      formId: form === '' ? undefined : Number(form),
      status: statuses.find((one) => one === status),
    }),
    choices: async ({ form = '', status }) => {
      const known = await forms.summaries();
      const formName = known.find(({ id }) => String(id) === form)?.name ?? form;
      const found = statuses.find((one) => one === status);
      return [
        {
          name: 'form',
          label: 'Form',
          field: recordField(known, { value: form, first: 'All forms', deleted: (id) => id }),
          chip: `Form: ${formName}`,
        },
        {
          name: 'status',
          label: 'Status',
          field: {
            type: 'select',
            options: [
              { value: '', label: 'All statuses' },
              ...statuses.map((value) => ({ value, label: statusBadges[value].text })),
            ],
          },
          chip: found === undefined ? '' : statusBadges[found].text,
        },
      ];
    },
    rows: async (shown) => {
      const users = await host.users.names([...new Set(shown.map(({ userId }) => userId).filter((id) => id > 0))]);
      return shown.map((submission) => ({
        title: titleOf(submission),
        badge: statusBadges[submission.status],
        cells: [submission.formName, personOf(submission, users)],
      }));
    },
    details: async (submission) => {
      const { status, userId, response, generation, error } = submission;
      return {
        error,
        title: titleOf(submission),
        badge: statusBadges[status],
        person: personOf(submission, await host.users.names(userId > 0 ? [userId] : [])),
        response: response === '' ? null : host.views.safe(await markdownToHtml(response)),
        generation: generation && {
          ...generation,
          tokens: generation.usage.total_tokens,
          isCut: generation.finish === 'length',
          isFiltered: generation.finish === 'content_filter',
          cost: generation.cost === null ? null : formatMoney(generation.cost),
        },
      };
    },
    csv: submissionsCsv,
    record: submissionRecord,
  };
}

/** The form with the number of the submission, and the first value. */
function titleOf({ number, formName, display_values: values }: Submission): string {
  const first = Object.values(values).find((value) => value !== '');
  return [
    number === null ? formName : `${formName} ${String(number)}`,
    ...(first === undefined ? [] : [first.replace(/\s+/g, ' ').slice(0, 70)]),
  ].join(' · ');
}

function personOf({ userId }: Submission, users: ReadonlyMap<number, string>): string {
  return userId > 0 ? (users.get(userId) ?? translateText(`User ${String(userId)}`)) : translateText('Guest');
}

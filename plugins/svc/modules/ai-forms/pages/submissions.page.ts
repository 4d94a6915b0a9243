import type { AiForms } from '../ai-forms.ts';
import { formatMoney, restError, type AdminPageBody, withNotice } from '#plugin-api';
import { exportList, listPage, paginate } from '../../../admin-ui/list-pages.ts';
import { markdownToHtml } from '../../../kit/markdown-html.ts';
import type { Submission, SubmissionFilter } from '../submissions/submission.ts';
import { submissionsCsv, submissionsJsonl } from '../submissions/submissions-export.ts';
import { formsSlug, submissionsSlug } from './form-pages.ts';

const perPage = 20;
const statuses = ['completed', 'failed', 'running'] as const;

export function submissionsPage(parts: AiForms): AdminPageBody {
  const { submissions } = parts;
  return {
    render: async ({ query }) => ({ template: 'svc/ai-form-submissions', data: await view(parts, query) }),
    actions: {
      export: async ({ form }) => {
        const all = submissions.all(readFilter(form));
        return exportList(form, 'form-submissions', {
          csv: () => submissionsCsv(all),
          jsonl: () => submissionsJsonl(all),
        });
      },
      delete: async ({ form, user, log }) => {
        const id = textOf(form['id']);
        if (!(await submissions.delete(id)))
          throw restError(404, 'rest_svc_submission_not_found', 'Submission not found. It may have been deleted.');
        log.info('Deleted form submission', { event: 'form_submission_deleted', submission: id, user_id: user.id });
        return withNotice('success', 'Submission deleted.');
      },
    },
  };
}

async function view(parts: AiForms, query: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>> {
  const { forms, submissions } = parts;
  const filter = readFilter(query);
  const [known, total] = await Promise.all([forms.list(), submissions.count(filter)]);
  const { page, pages, ...range } = listPage(query, total, perPage);
  const shown = await submissions.list(filter, range);
  const users = await parts.host.users.names([...new Set(shown.map(({ userId }) => userId).filter((id) => id > 0))]);
  const current = {
    form: filter.formId === undefined ? '' : String(filter.formId),
    status: filter.status ?? '',
    search: filter.search ?? '',
  };
  const isFiltered = Object.values(current).some((value) => value !== '');
  return {
    rows: await Promise.all(shown.map((submission) => rowOf(parts, submission, users))),
    total,
    isFiltered,
    isEmpty: total === 0 && !isFiltered,
    exportFields: current,
    search: current.search,
    form: current.form,
    status: current.status,
    formOptions: [
      { value: '', label: 'All forms' },
      ...known.map(({ id, name }) => ({ value: String(id), label: name })),
    ],
    statusOptions: [
      { value: '', label: 'All statuses' },
      { value: 'completed', label: 'Completed' },
      { value: 'failed', label: 'Failed' },
      { value: 'running', label: 'Running' },
    ],
    listHref: parts.host.admin.url(formsSlug),
    clearHref: parts.host.admin.url(submissionsSlug),
    pagination: paginate({ page, pages, query: current }),
  };
}

const badges = {
  completed: { text: 'Completed', kind: 'success' },
  failed: { text: 'Failed', kind: 'error' },
  running: { text: 'Running', kind: 'info' },
} as const;

async function rowOf(
  { host }: AiForms,
  submission: Submission,
  users: ReadonlyMap<number, string>,
): Promise<Record<string, unknown>> {
  const {
    id,
    status,
    number,
    formName,
    userId,
    pageUrl,
    labels,
    display_values: values,
    response,
    generation,
    error,
    createdAt,
  } = submission;
  const [first = ''] = Object.values(values).filter((value) => value !== '');
  return {
    id,
    status,
    number,
    formName,
    pageUrl,
    error,
    createdAt,
    badge: badges[status],
    isAnswered: status === 'completed',
    title: [
      number === null ? formName : `${formName} ${String(number)}`,
      ...(first === '' ? [] : [first.replace(/\s+/g, ' ').slice(0, 70)]),
    ].join(' · '),
    person: userId > 0 ? (users.get(userId) ?? `User ${String(userId)}`) : 'Guest',
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
    deleteFields: { id },
  };
}

/** Ignores invalid values. */
function readFilter(query: Readonly<Record<string, unknown>>): SubmissionFilter {
  const form = Number(textOf(query['form']));
  const status = statuses.find((one) => one === textOf(query['status']));
  const search = textOf(query['search']);
  return {
    ...(Number.isSafeInteger(form) && form > 0 && { formId: form }),
    ...(status !== undefined && { status }),
    ...(search !== '' && { search }),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim().slice(0, 200) : '';
}

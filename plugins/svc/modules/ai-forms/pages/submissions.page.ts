import { RestError, type AdminActionResult, type AdminPageBody } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { markdownToHtml } from '../../../kit/markdown-html.ts';
import { aiFormsOf } from '../ai-forms.ts';
import type { Submission, SubmissionFilter } from '../submissions/submission.ts';
import { submissionsCsv, submissionsJsonl } from '../submissions/submissions-export.ts';
import { formsSlug, submissionsSlug } from './form-pages.ts';

const perPage = 20;
const statuses = ['completed', 'failed', 'running'] as const;

/** Submissions of forms: what was filled in and answered, search, export, deletion. */
export function submissionsPage(context: ServiceContext): AdminPageBody {
  const { submissions } = aiFormsOf(context);
  return {
    render: async ({ query }) => ({ template: 'svc/ai-form-submissions', data: await view(context, query) }),
    actions: {
      export: async ({ form }) => Promise.resolve(download(context, form)),
      delete: async ({ form, user, log }) => {
        const id = textOf(form['id']);
        if (!(await submissions.delete(id)))
          throw new RestError({
            code: 'rest_svc_submission_not_found',
            status: 404,
            message: 'This submission is not there any more. It may have been deleted in another window.',
          });
        log.info('A submission of a form was deleted.', { submission: id, by: user.id });
        return { notice: { kind: 'success', text: 'The submission was deleted.' } };
      },
    },
  };
}

function download(context: ServiceContext, form: Readonly<Record<string, unknown>>): AdminActionResult {
  const all = aiFormsOf(context).submissions.all(readFilter(form));
  return {
    download:
      form['format'] === 'jsonl'
        ? { name: 'form-submissions.jsonl', type: 'application/jsonl; charset=utf-8', content: submissionsJsonl(all) }
        : {
            name: 'form-submissions.csv',
            type: 'text/csv; charset=utf-8; header=present',
            content: submissionsCsv(all),
          },
  };
}

async function view(
  context: ServiceContext,
  query: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const { forms, submissions } = aiFormsOf(context);
  const filter = readFilter(query);
  const [known, total] = await Promise.all([forms.list(), submissions.count(filter)]);
  const pages = Math.max(1, Math.ceil(total / perPage));
  const page = Math.min(pages, Math.max(1, Math.trunc(Number(query['page'])) || 1));
  const shown = await submissions.list(filter, { limit: perPage, offset: (page - 1) * perPage });
  const users = await context.host.users.names([...new Set(shown.map(({ userId }) => userId).filter((id) => id > 0))]);
  const kept = {
    form: filter.formId === undefined ? '' : String(filter.formId),
    status: filter.status ?? '',
    search: filter.search ?? '',
  };
  const isFiltered = Object.values(kept).some((value) => value !== '');
  const at = (number: number): string => `?${new URLSearchParams({ ...kept, page: String(number) }).toString()}`;
  return {
    rows: await Promise.all(shown.map((submission) => rowOf(context, submission, users))),
    total,
    isFiltered,
    isEmpty: total === 0 && !isFiltered,
    exportFields: kept,
    search: kept.search,
    form: kept.form,
    status: kept.status,
    formOptions: [
      { value: '', label: 'All forms' },
      ...known.map(({ id, name }) => ({ value: String(id), label: name })),
    ],
    statusOptions: [
      { value: '', label: 'Any' },
      { value: 'completed', label: 'Answered' },
      { value: 'failed', label: 'Failed' },
      { value: 'running', label: 'Under way' },
    ],
    listHref: context.host.admin.url(formsSlug),
    clearHref: context.host.admin.url(submissionsSlug),
    pagination:
      pages === 1
        ? null
        : {
            text: `Page ${String(page)} of ${String(pages)}`,
            ...(page > 1 && { previous: at(page - 1) }),
            ...(page < pages && { next: at(page + 1) }),
          },
  };
}

const badges = {
  completed: { text: 'Answered', kind: 'success' },
  failed: { text: 'Failed', kind: 'error' },
  running: { text: 'Under way', kind: 'info' },
} as const;

async function rowOf(
  { host }: ServiceContext,
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
    made,
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
    title: `${formName}${number === null ? '' : ` ${String(number)}`}${first === '' ? '' : ` · ${first.replace(/\s+/g, ' ').slice(0, 70)}`}`,
    person: userId > 0 ? (users.get(userId) ?? `User ${String(userId)}`) : 'Guest',
    answers: Object.entries(labels).map(([key, label]) => ({ label, value: values[key] || '-' })),
    response: response === '' ? null : host.views.safe(await markdownToHtml(response)),
    made:
      made === null
        ? null
        : {
            ...made,
            tokens: made.usage.total_tokens,
            dollars: made.cost === null ? null : (made.cost / 1_000_000).toFixed(4),
          },
    deleteFields: { id },
  };
}

/** Reads the filter from an address or a form; what cannot be one is left out. */
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

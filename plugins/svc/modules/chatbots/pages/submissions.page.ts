import { RestError, type AdminActionResult, type AdminPageBody } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import type { SubmissionFilter, Submission } from '../forms/submission.ts';
import { submissionsCsv, submissionsJsonl } from '../forms/submissions-export.ts';

const perPage = 20;

/** What the template shows: submissions of one page, the filter that picked them, and where to go on. */
async function submissionsView(
  parts: ChatbotParts,
  query: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const { bots, submissions } = parts;
  const filter = readFilter(query);
  const [known, total] = await Promise.all([bots.list(), submissions.count(filter)]);
  const pages = Math.max(1, Math.ceil(total / perPage));
  const page = Math.min(pages, Math.max(1, Math.trunc(Number(query['page'])) || 1));
  const shown = await submissions.list(filter, { limit: perPage, offset: (page - 1) * perPage });
  const names = new Map(known.map(({ id, name }) => [id, name]));
  const kept = {
    bot: filter.botId === undefined ? '' : String(filter.botId),
    form: filter.formId ?? '',
    search: filter.search ?? '',
  };
  const isFiltered = Object.values(kept).some((value) => value !== '');
  return {
    rows: shown.map((submission) => submissionRow(submission, names)),
    total,
    isEmpty: total === 0 && !isFiltered,
    isFiltered,
    exportFields: kept,
    search: kept.search,
    botOptions: [
      { value: '', label: 'All chatbots' },
      ...known.map(({ id, name }) => ({ value: String(id), label: name })),
    ],
    bot: kept.bot,
    formOptions: [{ value: '', label: 'All forms' }, ...listForms(known).map(([value, label]) => ({ value, label }))],
    form: kept.form,
    pagination: paginate({ page, pages, kept }),
  };
}

/** Reads the filter from an address or a form; what cannot be one is left out. */
function readFilter(query: Readonly<Record<string, unknown>>): SubmissionFilter {
  const bot = Number(readText(query['bot']));
  const form = readText(query['form']);
  const search = readText(query['search']);
  return {
    ...(Number.isSafeInteger(bot) && bot > 0 && { botId: bot }),
    ...(form !== '' && { formId: form }),
    ...(search !== '' && { search }),
  };
}

function submissionRow(submission: Submission, names: ReadonlyMap<number, string>): Record<string, unknown> {
  const { id, display_values: values, labels } = submission;
  const person = values['email'] ?? [values['first_name'], values['last_name']].filter(Boolean).join(' ');
  return {
    deleteFields: { id },
    sentAt: submission.createdAt,
    form: submission.formName,
    bot: names.get(submission.botId) ?? '(deleted chatbot)',
    person: person || (submission.userId === 0 ? 'Guest' : `User ${submission.userId}`),
    conversation: submission.conversation,
    // Addresses come from the visitor's page: only those of the web become links.
    pageUrl: /^https?:\/\//i.test(submission.pageUrl) ? submission.pageUrl : '',
    answers: Object.entries(labels).map(([name, label]) => ({ label, value: values[name] || '-' })),
  };
}

function listForms(
  bots: readonly { readonly forms: readonly { readonly id: string; readonly name: string }[] }[],
): [string, string][] {
  return [...new Map(bots.flatMap(({ forms }) => forms.map(({ id, name }): [string, string] => [id, name])))];
}

interface PagesInit {
  readonly page: number;
  readonly pages: number;
  readonly kept: Readonly<Record<string, string>>;
}

/** For the host's partial `admin/pages/pagination`. */
function paginate({
  page,
  pages,
  kept,
}: PagesInit): { text: string; previous: string | null; next: string | null } | null {
  if (pages <= 1) return null;
  const address = (to: number): string =>
    `?${new URLSearchParams(Object.entries({ ...kept, page: to === 1 ? '' : String(to) }).filter(([, value]) => value !== '')).toString()}`;
  return {
    text: `Page ${page} of ${pages}`,
    previous: page > 1 ? address(page - 1) : null,
    next: page < pages ? address(page + 1) : null,
  };
}

function readText(value: unknown): string {
  return typeof value === 'string' ? value.trim().slice(0, 200) : '';
}

/** The page "Form submissions": what visitors sent through forms of chatbots, its search, export and deletion. */
export function submissionsPage(parts: ChatbotParts): AdminPageBody {
  const { submissions } = parts;

  const download = (form: Readonly<Record<string, unknown>>): AdminActionResult => {
    const filter: SubmissionFilter = readFilter(form);
    const isCsv = form['format'] !== 'jsonl';
    const all = submissions.all(filter);
    return {
      download: isCsv
        ? { name: 'submissions.csv', type: 'text/csv; charset=utf-8; header=present', content: submissionsCsv(all) }
        : { name: 'submissions.jsonl', type: 'application/jsonl; charset=utf-8', content: submissionsJsonl(all) },
    };
  };

  return {
    render: async (request) => ({ template: 'svc/submissions', data: await submissionsView(parts, request.query) }),
    actions: {
      export: async (request) => Promise.resolve(download(request.form)),
      delete: async ({ form, user, log }) => {
        const id = typeof form['id'] === 'string' ? form['id'] : '';
        if (!(await submissions.delete(id)))
          throw new RestError({
            code: 'rest_svc_submission_not_found',
            status: 404,
            message: 'This submission is not there any more. It may have been deleted in another window.',
          });
        log.info('A form submission was deleted.', { submission: id, by: user.id });
        return { notice: { kind: 'success', text: 'The submission was deleted.' } };
      },
    },
  };
}

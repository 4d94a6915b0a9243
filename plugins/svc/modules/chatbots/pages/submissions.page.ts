import { restError, type AdminPageBody, withNotice } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import type { SubmissionFilter, Submission } from '../forms/submission.ts';
import { exportList, listPage, paginate } from '../../../admin-ui/list-pages.ts';
import { submissionsCsv, submissionsJsonl } from '../forms/submissions-export.ts';

const perPage = 20;

/** The page "Form submissions": searches, exports and deletes what visitors sent through forms of chatbots. */
export function createPage(parts: ChatbotParts): AdminPageBody {
  const { submissions } = parts;

  return {
    render: async (request) => ({ template: 'svc/submissions', data: await submissionsView(parts, request.query) }),
    actions: {
      export: async ({ form }) => {
        const all = submissions.all(readFilter(form));
        return exportList(form, 'submissions', { csv: () => submissionsCsv(all), jsonl: () => submissionsJsonl(all) });
      },
      delete: async ({ form, user, log }) => {
        const id = typeof form['id'] === 'string' ? form['id'] : '';
        if (!(await submissions.delete(id)))
          throw restError(
            404,
            'rest_svc_submission_not_found',
            'This submission does not exist. It may have been deleted in another window.',
          );
        log.info('Form submission deleted', { event: 'form_submission_deleted', submission: id, by: user.id });
        return withNotice('success', 'Submission deleted.');
      },
    },
  };
}

/** The data of `svc/submissions`. */
async function submissionsView(
  parts: ChatbotParts,
  parameters: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const { bots, submissions } = parts;
  const filter = readFilter(parameters);
  const [known, total] = await Promise.all([bots.list(), submissions.count(filter)]);
  const { page, pages, ...range } = listPage(parameters, total, perPage);
  const shown = await submissions.list(filter, range);
  const names = new Map(known.map(({ id, name }) => [id, name]));
  const query = {
    bot: filter.botId === undefined ? '' : String(filter.botId),
    form: filter.formId ?? '',
    search: filter.search ?? '',
  };
  const isFiltered = Object.values(query).some((value) => value !== '');
  return {
    rows: shown.map((submission) => submissionRow(submission, names)),
    total,
    isEmpty: total === 0 && !isFiltered,
    isFiltered,
    exportFields: query,
    search: query.search,
    botOptions: [
      { value: '', label: 'All chatbots' },
      ...known.map(({ id, name }) => ({ value: String(id), label: name })),
    ],
    bot: query.bot,
    formOptions: [{ value: '', label: 'All forms' }, ...listForms(known).map(([value, label]) => ({ value, label }))],
    form: query.form,
    pagination: paginate({ page, pages, query }),
  };
}

/** Reads the filter from a query string or a form. Invalid values are ignored. */
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
    message: firstLine(values, person),
    conversation: submission.conversation,
    // The browser sends this URL, so only http and https become links.
    pageUrl: /^https?:\/\//i.test(submission.pageUrl) ? submission.pageUrl : '',
    answers: Object.entries(labels).map(([name, label]) => ({ label, value: values[name] || '-' })),
  };
}

/** The first line of what the person wrote: of the longest answer, the fields that say who it is aside. */
function firstLine(values: Submission['display_values'], person: string): string {
  const answers = Object.entries(values).filter(
    ([id, value]) => !['email', 'phone', 'first_name', 'last_name'].includes(id) && value !== person,
  );
  const [longest = ''] = answers.map(([, value]) => value.trim()).sort((left, right) => right.length - left.length);
  const [line = ''] = longest.split('\n');
  return line === longest ? line : `${line} …`;
}

function listForms(
  bots: readonly { readonly forms: readonly { readonly id: string; readonly name: string }[] }[],
): [string, string][] {
  return [...new Map(bots.flatMap(({ forms }) => forms.map(({ id, name }): [string, string] => [id, name])))];
}

function readText(value: unknown): string {
  return typeof value === 'string' ? value.trim().slice(0, 200) : '';
}

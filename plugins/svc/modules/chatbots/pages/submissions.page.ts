import { RestError, type AdminActionResult, type AdminPageBody } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import type { SubmissionFilter } from '../forms/submission.ts';
import { submissionsCsv, submissionsJsonl } from '../forms/submissions-export.ts';
import { readFilter, submissionsView } from './submissions-view.ts';

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

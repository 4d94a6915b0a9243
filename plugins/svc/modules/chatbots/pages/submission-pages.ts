import { translateText, type AdminPageBody } from '#plugin-api';
import { deletedBotLabel, recordField } from '../../../admin-ui/form-values.ts';
import { readIdValue, type SubmissionKind } from '../../../admin-ui/submission-kind.ts';
import { submissionPage as itemPage } from '../../../admin-ui/submission-item.ts';
import { submissionsPage as listPage } from '../../../admin-ui/submission-list.ts';
import type { ChatbotParts } from '../chatbots.ts';
import type { Submission, SubmissionFilter } from '../forms/submission.ts';
import { submissionRecord, submissionsCsv } from '../forms/submissions-export.ts';
import { botsSlug, submissionSlug, submissionsSlug } from './bot-page-slugs.ts';

/** What visitors sent through the forms of chatbots. */
export function submissionsPage(parts: ChatbotParts): AdminPageBody {
  return listPage(submissionKind(parts));
}

/** A submission with the way to its conversation. */
export function submissionPage(parts: ChatbotParts): AdminPageBody {
  return itemPage(submissionKind(parts));
}

function submissionKind({ host, bots, submissions }: ChatbotParts): SubmissionKind<Submission, SubmissionFilter> {
  const botNames = async (shown: readonly Submission[]) =>
    new Map((await bots.summaries(shown.map(({ botId }) => botId))).map(({ id, name }) => [id, name]));
  return {
    host,
    store: submissions,
    slugs: { list: submissionsSlug, item: submissionSlug },
    file: 'submissions',
    empty: {
      text: 'When a rule shows a form and a visitor submits it, the entry appears here.',
      href: host.admin.url(botsSlug),
      label: 'Add a form to a chatbot',
    },
    searchLabel: 'Search in answers',
    columns: [{ label: 'Submission' }, { label: 'Form' }, { label: 'Chatbot' }, { label: 'Submitted' }],
    filters: { bot: readIdValue, form: (value) => value },
    toFilter: ({ bot = '', form = '' }) => ({
      botId: bot === '' ? undefined : Number(bot),
      formId: form === '' ? undefined : form,
    }),
    choices: async ({ bot = '', form = '' }) => {
      const known = await bots.summaries();
      const field = recordField(known, { value: bot, first: 'All chatbots', deleted: deletedBotLabel });
      // Forms are inside the settings of their chatbots, which are read where a person can choose one of them.
      const owners = await bots.list(field.type === 'select' ? undefined : bot === '' ? [] : [Number(bot)]);
      const forms = new Map(owners.flatMap((one) => one.forms.map(({ id, name }) => [id, name] as const)));
      if (form !== '' && !forms.has(form)) forms.set(form, form);
      const options = [...forms].map(([value, label]) => ({ value, label, isData: true }));
      const botName = known.find(({ id }) => String(id) === bot)?.name ?? bot;
      return [
        { name: 'bot', label: 'Chatbot', field, chip: `Chatbot: ${botName}` },
        {
          name: 'form',
          label: 'Form',
          field: { type: 'select', options: [{ value: '', label: 'All forms' }, ...options] },
          chip: `Form: ${forms.get(form) ?? form}`,
        },
      ];
    },
    rows: async (shown) => {
      const names = await botNames(shown);
      return shown.map((submission) => ({
        title: titleOf(submission),
        cells: [submission.formName, botOf(submission, names)],
      }));
    },
    details: async (submission) => ({
      title: titleOf(submission),
      person: personOf(submission),
      form: submission.formName,
      bot: botOf(submission, await botNames([submission])),
      conversationHref: `${host.admin.url('svc/conversation')}?conversation=${encodeURIComponent(submission.conversation)}`,
    }),
    csv: submissionsCsv,
    record: submissionRecord,
  };
}

function botOf({ botId }: Submission, names: ReadonlyMap<number, string>): string {
  return names.get(botId) ?? translateText('(deleted chatbot)');
}

function personOf({ display_values: values, userId }: Submission): string {
  const named = values['email'] || [values['first_name'], values['last_name']].filter(Boolean).join(' ');
  return named || translateText(userId === 0 ? 'Guest' : `User ${String(userId)}`);
}

/** Who sent it, and the first line of what the person wrote: of the longest answer, the fields that say who it is aside. */
function titleOf(submission: Submission): string {
  const person = personOf(submission);
  const answers = Object.entries(submission.display_values).filter(
    ([id, value]) => !['email', 'phone', 'first_name', 'last_name'].includes(id) && value !== person,
  );
  const [longest = ''] = answers.map(([, value]) => value.trim()).sort((left, right) => right.length - left.length);
  const [line = ''] = longest.split('\n');
  const short = line.slice(0, 70);
  return [person, ...(short === '' ? [] : [short === longest ? short : `${short} …`])].join(' · ');
}

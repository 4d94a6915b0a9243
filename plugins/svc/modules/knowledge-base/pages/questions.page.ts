import { parseId, requireFound, withNotice } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest } from '#plugin-api';
import { readText } from '../../../admin-ui/form-values.ts';
import { listPage, paginate } from '../../../admin-ui/list-pages.ts';
import type { KnowledgeParts } from '../knowledge.ts';
import { answerQuestion } from '../questions/unanswered-questions.ts';
import type { Question, QuestionState } from '../questions/question-store.ts';
import { questionsSlug } from '../register.ts';

const perPage = 30;
const states: readonly { readonly id: QuestionState; readonly label: string }[] = [
  { id: 'open', label: 'Open' },
  { id: 'answered', label: 'Answered' },
  { id: 'dismissed', label: 'Dismissed' },
];

/** The page "Unanswered questions": questions without a good answer, with a form to write it. */
export function createPage(parts: KnowledgeParts): AdminPageBody {
  const { questions } = parts;
  const findQuestion = async (request: AdminRequest): Promise<Question> => {
    return requireFound(await questions.get(parseId(readText(request, 'question'))), {
      code: 'rest_svc_question_not_found',
      status: 404,
      message: 'This question no longer exists.',
    });
  };
  const settled = async (request: AdminRequest, state: QuestionState, text: string): Promise<AdminActionResult> => {
    await questions.resolve((await findQuestion(request)).id, { state });
    return withNotice('info', text, { redirect: questionsSlug });
  };
  return {
    render: async (request) => ({
      template: 'svc/knowledge-questions',
      data: await questionsView(parts, request.query),
    }),
    actions: {
      answer: async (request) => {
        const question = await findQuestion(request);
        const { base } = await answerQuestion(parts, question, {
          answer: readText(request, 'answer'),
          baseId: parseId(readText(request, 'base')),
        });
        return withNotice('success', `Answer added to ${base.name}.`, { redirect: questionsSlug });
      },
      dismiss: (request) => settled(request, 'dismissed', 'Question dismissed.'),
      reopen: (request) => settled(request, 'open', 'Question reopened.'),
    },
  };
}

async function questionsView(parts: KnowledgeParts, query: AdminRequest['query']): Promise<Record<string, unknown>> {
  const { bases, questions } = parts;
  const state = states.find(({ id }) => id === query['state'])?.id ?? 'open';
  const baseId = parseId(query['base']) || undefined;
  const filter = { state, ...(baseId !== undefined && { baseId }) };
  const total = await questions.count(filter);
  const { page, pages, ...range } = listPage(query, total, perPage);
  const [all, found] = await Promise.all([bases.list(), questions.list(filter, range)]);
  const active = all.filter((base) => base.state === 'active');
  const ofBase = baseId !== undefined && { base: String(baseId) };
  return {
    tabs: states.map(({ id, label }) => ({
      label,
      href: `?${new URLSearchParams({ state: id, ...ofBase }).toString()}`,
      current: id === state,
    })),
    isOpen: state === 'open',
    total,
    hasBases: active.length > 0,
    rows: found.map((question) => ({
      ...question,
      why:
        question.reason === 'rating'
          ? 'The answer got a bad rating'
          : question.bestScore === null
            ? 'No passage was found'
            : `Best match: ${String(question.bestScore)}%`,
      base: all.find(({ id }) => id === question.baseId)?.name ?? '',
      bases: active.map(({ id, name }) => ({ value: String(id), label: name, isData: true })),
      chosen: String(question.baseId),
      fields: { question: question.id },
    })),
    pagination: paginate({ page, pages, query: { state, ...ofBase } }),
  };
}

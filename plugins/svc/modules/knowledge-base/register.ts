import { formatNumber } from '#plugin-api';
import './hooks.ts';
import type { Loaded } from '../../kit/lazy.ts';
import type { KnowledgeParts, KnowledgePorts } from './knowledge.ts';
import { deleteBaseJob, indexJob } from './tables.ts';

export const basesSlug = 'svc/knowledge';
export const baseSlug = 'svc/knowledge/base';
export const questionsSlug = 'svc/knowledge/questions';

export const sweepHook = 'svc_knowledge_sweep';

export type KnowledgeModule = Loaded<KnowledgePorts, KnowledgeParts>;

interface WrittenPost {
  readonly id: number;
  readonly type: string;
  readonly status: string;
  readonly title: string;
  readonly password: string;
}

/** Registers filters, actions and jobs. Their code is loaded on first use. */
export async function registerKnowledge(module: KnowledgeModule): Promise<void> {
  const { host, load } = module;
  const { hooks } = host;
  const listActive = async () => (await (await load()).bases.list()).filter(({ state }) => state === 'active');

  hooks.addFilter('svc_knowledge_bases', async (bases) => [...bases, ...(await listActive())]);
  hooks.addFilter('svc_automation_task_types', async (types) => {
    const [{ indexingTask }, bases] = await Promise.all([import('./task-type.ts'), listActive()]);
    return [...types, indexingTask(await load(), bases)] as never;
  });
  hooks.addAction('save_post', async (_id: number, post: WrittenPost) => syncPost(module, post));
  hooks.addAction('transition_post_status', async (status: string, _before: string, post: WrittenPost) => {
    if (status !== 'publish') await syncPost(module, post);
  });
  hooks.addAction('deleted_post', async (id: number) =>
    (await import('./sources/add-source.ts')).forgetPost(await load(), id),
  );
  hooks.addAction('wp_abilities_api_init', async () =>
    (await import('./knowledge-abilities.ts')).registerKnowledgeAbilities(host.abilities, load),
  );
  hooks.addFilter('mcp_resources', async (sources) => [
    ...sources,
    (await import('./knowledge-resources.ts')).knowledgeResources(await load()),
  ]);
  registerQuestions(module);
  registerHome(module);
  await registerWork(module);
}

async function syncPost({ load }: KnowledgeModule, post: WrittenPost): Promise<void> {
  if (post.type !== 'revision' && post.status !== 'auto-draft')
    await (await import('./sources/add-source.ts')).followPost(await load(), post);
}

/** Unanswered questions and the step to the first knowledge base, on the home page. */
function registerHome({ host: { hooks }, load }: KnowledgeModule): void {
  hooks.addFilter('admin_alerts', async (alerts, user) => {
    const open = user.can('manage_options') ? await (await load()).questions.count({ state: 'open' }) : 0;
    if (open === 0) return alerts;
    const text = open === 1 ? '1 question has no answer.' : `${formatNumber(open)} questions have no answer.`;
    return [...alerts, { kind: 'warning', text, href: questionsSlug, label: 'Answer' }];
  });
  hooks.addFilter('admin_next_steps', async (steps) => [
    ...steps,
    {
      text: 'Teach your chatbot: create a knowledge base.',
      href: basesSlug,
      done: (await (await load()).bases.list()).length > 0,
    },
  ]);
}

function registerQuestions({ host: { hooks }, load }: KnowledgeModule): void {
  hooks.addAction('svc_knowledge_missing', async (miss) =>
    (await import('./questions/unanswered-questions.ts')).recordMiss(await load(), miss),
  );
  hooks.addAction('svc_chatbot_rated', async (rating) =>
    (await import('./questions/unanswered-questions.ts')).recordRating(await load(), rating),
  );
  hooks.addFilter('svc_personal_data_export', async (records, _person, asker) => {
    const questions = await (await load()).questions.listByAsker(asker);
    return [
      ...records,
      ...questions.map(({ question, answer, comment, reason, firstAt, lastAt }) => ({
        type: 'unanswered_question',
        data: { question, answer, comment, reason, first_at: firstAt, last_at: lastAt },
      })),
    ];
  });
  // eslint-disable-next-line max-params -- the arguments of the hook
  hooks.addFilter('svc_personal_data_erase', async (counts, _person, asker, receipt) => {
    const { questions } = await load();
    // A source that an administrator wrote belongs to the site. It may repeat the question, so the receipt names it.
    const answered = (await questions.listByAsker(asker)).flatMap(({ baseId, sourceId }) =>
      sourceId === null ? [] : [{ knowledge_base: baseId, source: sourceId, state: 'kept' as const }],
    );
    receipt.add('vectors', answered);
    const erased = await questions.erase(asker);
    return erased === 0 ? counts : { ...counts, unanswered_questions: erased };
  });
}

/** Seconds before the second, third and later attempts. */
const backoff = [30, 120, 600];
/** Attempts at a source; further ones need a request. */
const maxAttempts = 4;

async function registerWork({ host, load }: KnowledgeModule): Promise<void> {
  const { hooks, cron, jobs, database } = host;
  jobs.define<{ source: number }>({
    name: indexJob,
    label: 'Index or delete a source',
    concurrency: 2,
    // A large source takes long, and its next attempt continues it.
    timeout: 7_200,
    backoff,
    attempts: async ({ source }) =>
      (await (await load()).sources.get(source))?.state === 'deleting' ? Infinity : maxAttempts,
    run: async ({ source }, job) => (await import('./indexing/index-job.ts')).runIndexJob(await load(), source, job),
    async postponed({ source }, { message }) {
      await (await load()).work.end(source, 'pending', message);
    },
    async failed({ source: id }, { message }) {
      const source = await (await load()).work.end(id, 'failed', message);
      if (source?.state === 'failed')
        database.afterCommit(() => void hooks.doActionAsync('svc_knowledge_failed', source, message));
    },
  });
  jobs.define<{ base: number }>({
    name: deleteBaseJob,
    label: 'Delete a knowledge base',
    backoff,
    attempts: () => Infinity,
    run: async ({ base }, job) => (await import('./indexing/index-job.ts')).runDeleteBaseJob(await load(), base, job),
  });
  await jobs.every('daily', {
    name: sweepHook,
    label: 'Delete old unanswered questions',
    run: async () => (await load()).questions.sweep(),
  });
  // Earlier versions polled.
  await cron.unschedule('svc_knowledge_work');
}

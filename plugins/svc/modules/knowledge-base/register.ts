import './hooks.ts';
import type { KnowledgeParts, KnowledgePorts } from './knowledge.ts';
import { tables, workChannel } from './tables.ts';

export const basesSlug = 'svc/knowledge';
export const baseSlug = 'svc/knowledge/base';
export const questionsSlug = 'svc/knowledge/questions';

export const workHook = 'svc_knowledge_work';
export const sweepHook = 'svc_knowledge_sweep';

export interface KnowledgeModule extends KnowledgePorts {
  /** The parts of this process. Loads their code with the first call. */
  load(): Promise<KnowledgeParts>;
}

interface WrittenPost {
  readonly id: number;
  readonly type: string;
  readonly status: string;
  readonly title: string;
  readonly password: string;
}

/** Registers filters, actions and cron events. Their code is loaded on first use. */
export function registerKnowledge(module: KnowledgeModule): void {
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
  registerQuestions(module);
  registerWork(module);
}

async function syncPost({ load }: KnowledgeModule, post: WrittenPost): Promise<void> {
  if (post.type !== 'revision' && post.status !== 'auto-draft')
    await (await import('./sources/add-source.ts')).followPost(await load(), post);
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

function registerWork({ host, load }: KnowledgeModule): void {
  const { hooks, cron, log, site, database } = host;
  const unfinished = ['pending', 'indexing', 'deleting'];
  const isIdle = async (): Promise<boolean> =>
    (await database.knex(tables.sources).whereIn('state', unfinished).first('id')) === undefined &&
    (await database.knex(tables.bases).where({ state: 'deleting' }).first('id')) === undefined;
  const work = async (): Promise<void> => {
    if (!(await isIdle())) await (await load()).drain();
  };
  const workSafely = (): void => {
    work().catch((error: unknown) => {
      log.warn('Failed to index sources; cron tries again within a minute', {
        event: 'knowledge_work_failed',
        error,
      });
    });
  };
  let isListening = false;
  const begin = async (): Promise<void> => {
    await cron.schedule('* * * * *', workHook);
    await cron.schedule('daily', sweepHook);
    // Nodes with the role `web` leave indexing to the workers.
    if (site.role === 'web' || isListening) return;
    isListening = true;
    await database.listen(workChannel, workSafely, workSafely);
    workSafely();
  };
  const beginSafely = (): Promise<void> =>
    begin().catch((error: unknown) => {
      log.error('Indexing of knowledge bases is unavailable on this node', {
        event: 'knowledge_listen_failed',
        error,
      });
    });
  hooks.addAction(workHook, work);
  hooks.addAction(sweepHook, async () => (await load()).questions.sweep());
  hooks.addAction('host_started', beginSafely);
  if (hooks.didAction('host_started') > 0) void beginSafely();
  host.onStop(async () => (await load()).stop());
}

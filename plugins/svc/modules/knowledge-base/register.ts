import type { ServiceContext } from '../../wiring.ts';
import './hooks.ts';
import type { Knowledge } from './knowledge.ts';
import { tables, workChannel } from './tables.ts';

export const workHook = 'svc_knowledge_work';
export const sweepHook = 'svc_knowledge_sweep';

/** Filters, actions, cron: all that knowledge bases do by themselves. Their code is loaded by its first use. */
export function registerKnowledge(context: ServiceContext): void {
  const { hooks } = context.host;
  const knowledge = async (): Promise<Knowledge> => (await import('./knowledge.ts')).knowledgeOf(context);
  const active = async () => (await (await knowledge()).bases.list()).filter(({ state }) => state === 'active');

  hooks.addFilter('svc_knowledge_bases', async (bases) => [...bases, ...(await active())]);
  hooks.addFilter('svc_automation_task_types', async (types) => {
    const [{ indexingTask }, bases] = await Promise.all([import('./task-type.ts'), active()]);
    return [...types, indexingTask(context, bases)] as never;
  });
  hooks.addAction('save_post', async (_id: number, post: Parameters<typeof followed>[1]) => followed(context, post));
  hooks.addAction(
    'transition_post_status',
    async (status: string, _before: string, post: Parameters<typeof followed>[1]) => {
      if (status !== 'publish') await followed(context, post);
    },
  );
  hooks.addAction('deleted_post', async (id: number) =>
    (await import('./sources/follow-posts.ts')).forgetPost(context, id),
  );
  registerQuestions(context, knowledge);
  registerWork(context, knowledge);
}

async function followed(
  context: ServiceContext,
  post: { readonly id: number; readonly type: string; readonly status: string; readonly title: string },
): Promise<void> {
  if (post.type !== 'revision' && post.status !== 'auto-draft')
    await (await import('./sources/follow-posts.ts')).followPost(context, post);
}

function registerQuestions({ host: { hooks } }: ServiceContext, knowledge: () => Promise<Knowledge>): void {
  hooks.addAction('svc_knowledge_missing', async (miss) =>
    (await import('./questions/note-questions.ts')).noteMiss(await knowledge(), miss),
  );
  hooks.addAction('svc_chatbot_rated', async (rating) =>
    (await import('./questions/note-questions.ts')).noteRating(await knowledge(), rating),
  );
  hooks.addFilter('svc_personal_data_export', async (records, _person, asker) => {
    const questions = await (await knowledge()).questions.of(asker);
    return [
      ...records,
      ...questions.map(({ question, answer, comment, reason, firstAt, lastAt }) => ({
        type: 'unanswered_question',
        data: { question, answer, comment, reason, first_at: firstAt, last_at: lastAt },
      })),
    ];
  });
  hooks.addFilter('svc_personal_data_erase', async (counts, _person, asker) => {
    const erased = await (await knowledge()).questions.erase(asker);
    return erased === 0 ? counts : { ...counts, unanswered_questions: erased };
  });
}

function registerWork({ host }: ServiceContext, knowledge: () => Promise<Knowledge>): void {
  const { hooks, cron, log, site, database } = host;
  const unsettled = ['pending', 'indexing', 'deleting'];
  const isIdle = async (): Promise<boolean> =>
    (await database.knex(tables.sources).whereIn('state', unsettled).first('id')) === undefined &&
    (await database.knex(tables.bases).where({ state: 'deleting' }).first('id')) === undefined;
  const work = async (): Promise<void> => {
    if (!(await isIdle())) await (await knowledge()).drain();
  };
  const workSafely = (): void => {
    work().catch((error: unknown) => {
      log.warn('sources of knowledge bases wait for cron', { error });
    });
  };
  let isListening = false;
  const begin = async (): Promise<void> => {
    await cron.schedule('* * * * *', workHook);
    await cron.schedule('daily', sweepHook);
    // A node that serves the web leaves indexing to the workers.
    if (site.role === 'web' || isListening) return;
    isListening = true;
    await database.listen(workChannel, workSafely, workSafely);
    workSafely();
  };
  const beginSafely = (): Promise<void> =>
    begin().catch((error: unknown) => {
      log.error('Knowledge bases are not indexed on this node.', { error });
    });
  hooks.addAction(workHook, work);
  hooks.addAction(sweepHook, async () => (await knowledge()).questions.sweep());
  hooks.addAction('host_started', beginSafely);
  if (hooks.didAction('host_started') > 0) void beginSafely();
  host.onStop(async () => (await knowledge()).stop());
}

import type { ServiceContext } from '../../wiring.ts';
import { nodeChannel, type NodeEvent } from './node-events.ts';
import { runHook, taskTables } from './tables.ts';

/** Alone enough to work the queue. */
const fallbackSchedule = '*/5 * * * *';
export const fallbackHook = 'svc_automations_fallback';

const load = async (context: ServiceContext) => (await import('./automations.ts')).automationsOf(context);

/** What automations do by themselves. Their code is loaded when there is a task, and on no node that serves the web alone. */
export function registerAutomations(context: ServiceContext): void {
  const { host } = context;
  const { hooks, cron, log, database } = host;
  const works = host.site.role !== 'web';
  let isWorking = false;

  async function work(): Promise<void> {
    if (!works || isWorking) return;
    if ((await database.knex(taskTables.tasks).first('id')) === undefined || isWorking) return;
    isWorking = true;
    (await load(context)).worker.start();
  }
  const workSafely = (): Promise<void> =>
    work().catch((error: unknown) => {
      log.error('The queue of automations is not worked on this node; cron still does so every five minutes.', {
        error,
      });
    });

  async function begin(): Promise<void> {
    await cron.schedule(fallbackSchedule, fallbackHook);
    if (!works) return;
    host.onStop(
      await database.listen(
        nodeChannel,
        (payload) => {
          onNodeEvent(JSON.parse(payload) as NodeEvent);
        },
        () => void workSafely(),
      ),
    );
    await work();
  }
  const beginSafely = (): Promise<void> =>
    begin().catch((error: unknown) => {
      log.error('Automations could not begin on this node; cron still works their queue every five minutes.', {
        error,
      });
    });

  function onNodeEvent(news: NodeEvent): void {
    if (!isWorking) return void workSafely();
    void load(context).then(({ worker }) => {
      if (news.kind === 'work') worker.wake();
      else worker.abandon(news.ids);
    });
  }

  hooks.addAction(fallbackHook, async () => {
    await work();
    if (works && !isWorking) return;
    const { worker } = await load(context);
    if (worker.isStarted) worker.wake();
    else await worker.drain();
  });
  hooks.addAction(runHook, async (id: number) => {
    const { runs, tasks } = await load(context);
    // Paused or deleted since it was scheduled.
    if ((await tasks.get(id))?.status === 'active') await runs.run(id, 'schedule');
  });
  hooks.addAction('delete_user', async (id: number, heir: number | null) => {
    await database
      .knex(taskTables.tasks)
      .where({ author_id: id })
      .update({ author_id: heir ?? 0 });
  });
  // It may bring kinds of work that items wait for.
  hooks.addAction('activated_plugin', () => {
    if (isWorking)
      void load(context).then(({ worker }) => {
        worker.wake();
      });
  });
  hooks.addAction('host_started', beginSafely);
  // Switched on while the host runs already.
  if (hooks.didAction('host_started') > 0) void beginSafely();
}

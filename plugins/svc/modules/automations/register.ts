import type { AutomationPorts, Automations } from './automations.ts';
import { nodeChannel, type NodeEvent } from './node-events.ts';
import { runHook, taskTables } from './tables.ts';

/** Processes the queue even if nothing else wakes a worker. */
const fallbackSchedule = '*/5 * * * *';
export const fallbackHook = 'svc_automations_fallback';

export interface AutomationParts extends AutomationPorts {
  /** The parts of this process. Loads their code with the first call. */
  load(): Promise<Automations>;
}

/** Registers the background work. A node loads its code once a task exists; a node with the role `web` never does. */
export function registerAutomations({ host, load }: AutomationParts): void {
  const { hooks, cron, log, database } = host;
  const canWork = host.site.role !== 'web';
  let isWorking = false;

  async function startWorker(): Promise<void> {
    if (!canWork || isWorking) return;
    if ((await database.knex(taskTables.tasks).first('id')) === undefined || isWorking) return;
    isWorking = true;
    (await load()).worker.start();
  }
  const startSafely = (): Promise<void> =>
    startWorker().catch((error: unknown) => {
      log.error('Failed to start the automation worker; cron processes the queue every five minutes', {
        event: 'automation_worker_start_failed',
        error,
      });
    });

  async function listen(): Promise<void> {
    await cron.schedule(fallbackSchedule, fallbackHook);
    if (!canWork) return;
    host.onStop(
      await database.listen(
        nodeChannel,
        (payload) => {
          onNodeEvent(JSON.parse(payload) as NodeEvent);
        },
        () => void startSafely(),
      ),
    );
    await startWorker();
  }
  const listenSafely = (): Promise<void> =>
    listen().catch((error: unknown) => {
      log.error('Failed to listen for automation events; cron processes the queue every five minutes', {
        event: 'automation_listen_failed',
        error,
      });
    });

  function onNodeEvent(event: NodeEvent): void {
    if (!isWorking) return void startSafely();
    void load().then(({ worker }) => {
      if (event.kind === 'work') worker.wake();
      else worker.abandon(event.ids);
    });
  }

  hooks.addAction(fallbackHook, async () => {
    await startWorker();
    if (canWork && !isWorking) return;
    const { worker } = await load();
    if (worker.isStarted) worker.wake();
    else await worker.drain();
  });
  hooks.addAction(runHook, async (id: number) => {
    const { runs, tasks } = await load();
    // Paused or deleted since it was scheduled.
    if ((await tasks.get(id))?.status === 'active') await runs.run(id, 'schedule');
  });
  hooks.addAction('delete_user', async (id: number, heir: number | null) => {
    await database
      .knex(taskTables.tasks)
      .where({ author_id: id })
      .update({ author_id: heir ?? 0 });
  });
  // The plugin may add task types that items wait for.
  hooks.addAction('activated_plugin', () => {
    if (isWorking)
      void load().then(({ worker }) => {
        worker.wake();
      });
  });
  hooks.addAction('host_started', listenSafely);
  // The plugin was activated on a running host.
  if (hooks.didAction('host_started') > 0) void listenSafely();
}

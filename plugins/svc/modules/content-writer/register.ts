import type { ContentPorts, ContentWriter } from './content-writer.ts';
import { registerPostMeta } from './posts/post-meta.ts';
import { contentChannel, contentSweepHook, contentWorkHook } from './content-tables.ts';

export interface ContentParts extends ContentPorts {
  /** The parts of this process. Loads their code with the first call. */
  load(): Promise<ContentWriter>;
}

/** Registers post meta, the background work and the task types. Their code is loaded on first use. */
export async function registerContent({ host, load }: ContentParts): Promise<void> {
  const { hooks, cron, database, log, site } = host;
  let isListening = false;
  const worker = async () => (await load()).worker;

  async function listen(): Promise<void> {
    // Nodes with the role `web` leave the writing to the workers.
    if (site.role === 'web' || isListening) return;
    isListening = true;
    const wake = (): void =>
      void worker()
        .then((one) => {
          one.wake();
        })
        .catch((error: unknown) =>
          log.error('Failed to process content batches; cron tries again', {
            event: 'content_batches_failed',
            error,
          }),
        );
    const undo = await database.listen(contentChannel, wake, wake);
    host.onStop(async () => {
      undo();
      await (await worker()).stop();
    });
  }
  const listenSafely = (): Promise<void> =>
    listen().catch((error: unknown) =>
      log.error('Batch notifications are unavailable on this node; polling every minute instead', {
        event: 'content_listen_failed',
        error,
      }),
    );

  registerPostMeta(host);
  hooks.addFilter('svc_automation_task_types', async (types) => [
    ...types,
    ...(await (await import('./automation/task-types.ts')).contentTaskTypes(await load())),
  ]);
  hooks.addAction(contentWorkHook, async () => (await worker()).idle());
  hooks.addAction(contentSweepHook, async () => (await import('./runs/run-store.ts')).sweepRuns(host));
  hooks.addFilter('svc_personal_data_export', async (records, person) =>
    (await import('./runs/personal-data.ts')).exportTexts(host, records, person),
  );
  hooks.addFilter('svc_personal_data_erase', async (counts, person) =>
    (await import('./runs/personal-data.ts')).eraseTexts(host, counts, person),
  );
  hooks.addAction('host_started', listenSafely);
  if (hooks.didAction('host_started') > 0) void listenSafely();
  await cron.schedule('* * * * *', contentWorkHook);
  await cron.schedule('daily', contentSweepHook);
}

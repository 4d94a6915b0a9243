import type { ServiceContext } from '../../wiring.ts';
import { registerPostMeta } from './posts/post-meta.ts';
import { contentChannel, contentSweepHook, contentWorkHook } from './register-names.ts';

/** Meta of posts, the background work, and kinds of tasks. What they do is loaded when it is first needed. */
export async function registerContent(context: ServiceContext): Promise<void> {
  const { host } = context;
  const { hooks, cron, database, log, site } = host;
  let isWorking = false;
  const worker = async () => (await import('./content.ts')).contentOf(context).worker;

  async function begin(): Promise<void> {
    // A node that serves the web leaves the writing to the workers.
    if (site.role === 'web' || isWorking) return;
    isWorking = true;
    const wake = (): void =>
      void worker()
        .then((one) => {
          one.wake();
        })
        .catch((error: unknown) =>
          log.error('Batches of content could not be worked on; cron tries again.', { error }),
        );
    const undo = await database.listen(contentChannel, wake, wake);
    host.onStop(async () => {
      undo();
      await (await worker()).stop();
    });
  }
  const beginSafely = (): Promise<void> =>
    begin().catch((error: unknown) =>
      log.error('Batches of content are not told of at once on this node; cron looks every minute.', { error }),
    );

  registerPostMeta(host);
  hooks.addFilter('svc_automation_task_types', async (types) => [
    ...types,
    ...(await (await import('./automation/task-types.ts')).contentTaskTypes(context)),
  ]);
  hooks.addAction(contentWorkHook, async () => (await worker()).idle());
  hooks.addAction(contentSweepHook, async () => (await import('./runs/sweep.ts')).sweepRuns(host));
  hooks.addFilter('svc_personal_data_export', async (records, person) =>
    (await import('./runs/personal-data.ts')).exportTexts(host, records, person),
  );
  hooks.addFilter('svc_personal_data_erase', async (counts, person) =>
    (await import('./runs/personal-data.ts')).eraseTexts(host, counts, person),
  );
  hooks.addAction('host_started', beginSafely);
  if (hooks.didAction('host_started') > 0) void beginSafely();
  await cron.schedule('* * * * *', contentWorkHook);
  await cron.schedule('daily', contentSweepHook);
}

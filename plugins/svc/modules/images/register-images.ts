import { lazy, type ShortcodeContext } from '#plugin-api';
import type { AutomationTaskType } from '../../kit/automation-task.ts';
import type { ServiceContext } from '../../wiring.ts';
import { imagesSweepHook } from './image-names.ts';
import { registerImageRoutes } from './public/register-routes.ts';

/** All that images do by themselves. What it takes is loaded when it is first needed. */
export async function registerImages(context: ServiceContext): Promise<void> {
  const { host } = context;
  registerImageRoutes(context);
  const render = lazy(async () => (await import('./public/shortcode.ts')).createShortcode(context));
  // eslint-disable-next-line max-params -- WordPress's arguments, in its order.
  host.content.addShortcode('svc_images', (_attributes, _content, _tag, { post, viewer }: ShortcodeContext) =>
    render(post, viewer),
  );
  host.hooks.addFilter('svc_automation_task_types', async (types: readonly AutomationTaskType[]) => [
    ...types,
    await (await import('./task/image-task.ts')).createImageTask(context),
  ]);
  // Deleted in the media library, it is gone from the history too.
  host.hooks.addAction('deleted_post_attachment', async (mediaId: number) => {
    await (await import('./images-of.ts')).imagesOf(context).store.removeMedia(mediaId);
  });
  host.hooks.addFilter('svc_personal_data_export', async (records, person) =>
    (await import('./personal-data.ts')).exportImages(context, records, person),
  );
  host.hooks.addFilter('svc_personal_data_erase', async (counts, person) =>
    (await import('./personal-data.ts')).eraseImages(context, counts, person),
  );
  host.hooks.addAction('delete_user', async (id: number, heir: number | null) => {
    await (await import('./forget-user.ts')).forgetUser(host, { id, heir });
  });
  host.hooks.addAction(imagesSweepHook, async () => {
    await (await import('./sweep.ts')).sweepImages(context);
  });
  await host.cron.schedule('hourly', imagesSweepHook);
}

import { lazy, type Post, type ShortcodeContext } from '#plugin-api';
import type { AutomationTaskType } from '../../kit/automation-task.ts';
import { loadedCommands, loadedPages, loadParts } from '../../kit/lazy.ts';
import { defineModule } from '../../kit/module.ts';
import './hooks.ts';
import {
  editImageSlug,
  imageSlug,
  imagesSlug,
  imagesSweepHook,
  privateImagesJob,
  publicImagesSlug,
  videoSlug,
  videoJob,
  visitorImageJob,
} from './image-names.ts';
import { imageMigrations, imageTables } from './image-tables.ts';
import { imagesGenerateRoute } from './images-generate.route.ts';
import type { ImageParts, ImagePorts, Images } from './images.ts';
import { registerImageRoutes } from './public/register-routes.ts';
import type { VisitorImageArgs } from './public/visitor-generation.ts';

/** Maximum size of an uploaded image or mask, in bytes. */
const uploadLimit = 50 * 1_048_576;
/** Cron events of earlier versions. */
const formerEvents = ['svc_images_make_private', 'svc_videos_work'];
/** Ended videos are listed for 30 days, in milliseconds. The history keeps them. */
const videoRetention = 30 * 24 * 3600_000;

/** Images: the REST route, the generator and its history in the admin, images for visitors, the task of automations. */
export const imagesModule = defineModule<ImagePorts, ImageParts>({
  create: loadParts(async () => (await import('./images.ts')).createImages),
  routes: [imagesGenerateRoute],
  pages: loadedPages<Images>({
    slug: imagesSlug,
    title: 'Images',
    group: 'content',
    icon: 'image',
    position: 31,
    script: 'images.js',
    style: 'images.css',
    body: () => import('./pages/images.page.ts'),
    subpages: [
      { slug: imageSlug, title: 'Image', script: 'images.js', body: () => import('./pages/image.page.ts') },
      {
        slug: editImageSlug,
        title: 'Edit image',
        script: 'images.js',
        uploadLimit,
        body: () => import('./pages/edit.page.ts'),
      },
      { slug: videoSlug, title: 'Videos', script: 'videos.js', body: () => import('./pages/video.page.ts') },
      { slug: publicImagesSlug, title: 'Images for visitors', body: () => import('./pages/visitors.page.ts') },
    ],
  }),
  commands: [loadedCommands(async () => (await import('./image-commands.ts')).imageCommands)],
  migrations: imageMigrations,
  tables: Object.values(imageTables),
  jobs: [imagesSweepHook, ...formerEvents],
  register: registerImages,
});

async function registerImages({ host, load }: ImageParts): Promise<void> {
  registerImageRoutes({ host, load });
  const render = lazy(async () => (await import('./public/shortcode.ts')).createShortcode(await load()));
  // eslint-disable-next-line max-params -- WordPress's arguments, in its order.
  host.content.addShortcode('svc_images', (_attributes, _content, _tag, { post, viewer }: ShortcodeContext) =>
    render(post, viewer),
  );
  const disclosure = async () =>
    (await import('./public/disclosure.ts')).disclosureFilters({
      host,
      settings: async () => (await load()).visitorSettings,
    });
  host.hooks.addFilter('wp_get_attachment_image_attributes', async (attributes, image) =>
    (await disclosure()).attributes(attributes, image),
  );
  host.hooks.addFilter('the_content', async (html: string, post: Post) => (await disclosure()).content(html, post), 20);
  host.hooks.addFilter('wp_head', async (head: string, page: { readonly post?: Post }) =>
    (await disclosure()).head(head, page),
  );
  host.hooks.addFilter('svc_automation_task_types', async (types: readonly AutomationTaskType[]) => [
    ...types,
    await (await import('./image-task.ts')).createImageTask(await load()),
  ]);
  host.hooks.addAction('deleted_post_attachment', async (mediaId: number) => {
    await (await load()).store.removeMedia(mediaId);
  });
  host.hooks.addFilter('svc_personal_data_export', async (records, person) =>
    (await import('./personal-data.ts')).exportImages(await load(), records, person),
  );
  // eslint-disable-next-line max-params -- the arguments of the hook
  host.hooks.addFilter('svc_personal_data_erase', async (counts, person, _identity, receipt) => {
    const erased = await (await import('./personal-data.ts')).eraseImages(await load(), person);
    receipt.add('media', erased.media);
    return { ...counts, ...erased.counts };
  });
  host.hooks.addAction('delete_user', async (id: number, heir: number | null) => {
    await (await import('./personal-data.ts')).reassignImages(host, { id, heir });
  });
  host.jobs.define<VisitorImageArgs>({
    name: visitorImageJob,
    label: 'Images for visitors',
    // A second one could cost the same again.
    attempts: 1,
    // They only wait.
    concurrency: 64,
    // Longer than any time limit of image calls.
    timeout: 3_600,
    run: async (args, job) => (await load()).visitorGeneration.run(args, job),
    failed: async ({ id }) => (await load()).visitorGeneration.interrupt(id),
  });
  host.jobs.define<{ id: string }>({
    name: videoJob,
    label: 'Videos',
    // A video that was started goes on in the next attempt; otherwise nothing is sent again.
    attempts: 10,
    concurrency: 8,
    timeout: 3_600,
    run: async ({ id }, job) => (await load()).videos.run(id, job),
    failed: async ({ id }, job) => (await load()).videos.fail(id, job.message),
  });
  for (const former of formerEvents) await host.cron.unschedule(former);
  await host.jobs.every('hourly', {
    name: imagesSweepHook,
    label: 'Delete uncommitted images',
    run: async () => {
      const { generator, visitorGeneration, videoJobs } = await load();
      const deleted = await generator.sweep();
      if (deleted > 0) host.log.info('Deleted uncommitted images', { event: 'images_swept', images: deleted });
      await visitorGeneration.sweep();
      await videoJobs.sweep(host.clock.now() - videoRetention);
    },
  });
  host.jobs.define({
    name: privateImagesJob,
    label: 'Make images of visitors private',
    timeout: 86_400,
    run: async () => {
      const count = await (await load()).privateImages.run();
      host.log.info('Images of visitors made private', { event: 'visitor_images_made_private', images: count });
    },
  });
  host.hooks.addAction('host_started', async () => {
    if (await (await load()).privateImages.isNeeded())
      await host.jobs.add(privateImagesJob, null, { key: privateImagesJob });
  });
}

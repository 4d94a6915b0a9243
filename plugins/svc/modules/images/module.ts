import type { ServiceContext } from '../../wiring.ts';
import { lazyCommands, lazyPage } from '../../kit/lazy.ts';
import { defineModule } from '../../kit/module.ts';
import './hooks.ts';
import { editImageSlug, imagesSlug, imagesSweepHook, imageSlug, publicImagesSlug } from './image-names.ts';
import { imagesMigration, imageTables as tables } from './image-tables.ts';
import { imagesGenerateRoute } from './images-generate.route.ts';
import { registerImages } from './register-images.ts';

/** Largest image, and mask, that may be uploaded to be edited, in bytes. */
const uploadLimit = 50 * 1_048_576;

/** Images: the REST route, the generator and history of the admin, what visitors draw, the task of automations. */
export const imagesModule = defineModule<ServiceContext>({
  id: 'images',
  title: 'Images',
  routes: [imagesGenerateRoute],
  pages: [
    lazyPage({
      slug: imagesSlug,
      title: 'Images',
      menu: 'Images',
      parent: 'svc',
      icon: 'image',
      position: 17,
      script: 'images.js',
      style: 'images.css',
      body: async () => (await import('./pages/images.page.ts')).imagesPage,
    }),
    lazyPage({
      slug: imageSlug,
      title: 'Image',
      parent: imagesSlug,
      style: 'images.css',
      script: 'images.js',
      body: async () => (await import('./pages/image.page.ts')).imagePage,
    }),
    lazyPage({
      slug: editImageSlug,
      title: 'Edit an image',
      parent: imagesSlug,
      script: 'images.js',
      style: 'images.css',
      uploadLimit,
      body: async () => (await import('./pages/edit.page.ts')).editPage,
    }),
    lazyPage({
      slug: publicImagesSlug,
      title: 'Images for visitors',
      parent: imagesSlug,
      style: 'images.css',
      body: async () => (await import('./pages/visitors.page.ts')).visitorsPage,
    }),
  ],
  commands: [lazyCommands(async () => (await import('./image-commands.ts')).imageCommands)],
  migrations: [imagesMigration],
  register: registerImages,
});

/** Removed when the plugin is uninstalled. */
export const imageTables: readonly string[] = Object.values(tables);

/** Cron jobs, for uninstalling. */
export const imageJobs: readonly string[] = [imagesSweepHook];

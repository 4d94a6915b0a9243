import type { ServiceContext } from '../../context.ts';
import { defineModule } from '../../kit/module.ts';
import { imagesGenerateRoute } from './images-generate.route.ts';

export const imagesModule = defineModule<ServiceContext>({
  id: 'images',
  title: 'Images',
  routes: [imagesGenerateRoute],
});

/** Removed when the plugin is uninstalled. */
export const imageTables: readonly string[] = [];

/** Cron jobs, for uninstalling. */
export const imageJobs: readonly string[] = [];

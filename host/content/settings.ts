import type { OptionsApi } from '#plugin-api';
import { uploadLimitSetting } from './media/media.ts';
import { revisionsSetting } from './posts/revisions.ts';

/** The settings of content. */
export function registerContentSettings(options: Pick<OptionsApi, 'registerSetting'>): void {
  options.registerSetting('posts_per_page', {
    group: 'reading',
    label: 'Posts on a page',
    showInRest: true,
    schema: {
      type: 'integer',
      minimum: 1,
      maximum: 100,
      default: 10,
      description: 'On the home page, in searches and in the feed.',
    },
  });
  options.registerSetting(revisionsSetting, {
    group: 'writing',
    label: 'Revisions kept of a post',
    schema: {
      type: 'integer',
      minimum: -1,
      maximum: 1000,
      default: 25,
      description: 'The oldest go first. 0 keeps none, -1 keeps all.',
    },
  });
  options.registerSetting(uploadLimitSetting, {
    group: 'media',
    label: 'Largest upload in MB',
    schema: { type: 'integer', minimum: 1, maximum: 500, default: 10 },
  });
}

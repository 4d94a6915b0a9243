import type { AdminApi, HooksApi, SiteApi, UsersApi } from '#plugin-api';
import type { ContentParts } from '../content.ts';
import { createMediaEditPage, createMediaPage } from './media-pages.ts';
import { createEditPostPage, createNewPostPage } from './post-edit-page.ts';
import { createPostsPage } from './posts-page.ts';

export interface ContentPagesDependencies {
  readonly admin: Pick<AdminApi, 'addPage'>;
  readonly parts: ContentParts;
  readonly users: Pick<UsersApi, 'get'>;
  readonly site: Pick<SiteApi, 'timezone'>;
  readonly hooks: Pick<HooksApi, 'doActionAsync'>;
}

/** Pages to list and edit posts, pages, media, and every type that asks for it while it is registered. */
export function addContentPages(given: ContentPagesDependencies): void {
  const { admin, parts } = given;
  parts.types.follow((type) => {
    if (!type.showInAdmin) return () => undefined;
    const pages = type.name === 'attachment'
      ? [createMediaPage(given), createMediaEditPage(given)]
      : [createPostsPage(given, type), createNewPostPage(given, type), createEditPostPage(given, type)];
    const undos = pages.map((page) => admin.addPage(page));
    return () => {
      for (const undo of undos.toReversed()) undo();
    };
  });
}

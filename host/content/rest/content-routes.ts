import type { PostType, Undo } from '#plugin-api';
import { addCommentsRoutes } from './comments-routes.ts';
import type { ContentRestDependencies } from './context.ts';
import { addStatusesRoutes, addTypesRoutes } from './types-and-statuses-routes.ts';
import { addPostsRoutes } from './posts-routes.ts';

/**
 * `/wp/v2/posts`, `/pages`, `/media`, `/types`, `/statuses`, `/comments`, and routes for each type with `showInRest`. Changes of meta
 * keys register them again, because the arguments include the keys.
 */
export function addContentRoutes(given: ContentRestDependencies): void {
  const { parts, hooks } = given;
  addTypesRoutes(given);
  addStatusesRoutes(given);
  addCommentsRoutes(given);
  const routes = new Map<PostType, Undo>();
  parts.types.follow((type) => {
    if (!type.showInRest) return () => undefined;
    routes.set(type, addPostsRoutes(given, type));
    return () => {
      routes.get(type)?.();
      routes.delete(type);
    };
  });
  let isOutdated = false;
  // Once for all keys that a plugin adds in a row.
  parts.meta.onChange(() => {
    if (isOutdated) return;
    isOutdated = true;
    queueMicrotask(() => {
      isOutdated = false;
      for (const [type, undo] of [...routes]) {
        undo();
        routes.set(type, addPostsRoutes(given, type));
      }
    });
  });
  hooks.addFilter('rest_public_authors', async (ids) => [
    ...new Set([...ids, ...(await parts.store.publishedAuthors())]),
  ]);
}

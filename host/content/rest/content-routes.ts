import type { PostType, Taxonomy, Undo } from '#plugin-api';
import { addCommentsRoutes } from './comments-routes.ts';
import type { ContentRestDependencies } from './context.ts';
import { addStatusesRoutes, addTypesRoutes } from './types-and-statuses-routes.ts';
import { addPostsRoutes } from './posts-routes.ts';
import { addSearchRoute } from './search-routes.ts';
import { addTaxonomiesRoutes } from './taxonomies-routes.ts';
import { addTermsRoutes } from './terms-routes.ts';

/**
 * `/wp/v2/posts`, `/pages`, `/media`, `/types`, `/statuses`, `/comments`, `/taxonomies`, `/search`, and routes for each type and
 * taxonomy with `showInRest`. After changes of meta keys, fields and taxonomies they are registered again before their next use,
 * because the arguments include these.
 */
export function addContentRoutes(given: ContentRestDependencies): void {
  const { parts, hooks, rest } = given;
  addTypesRoutes(given);
  addStatusesRoutes(given);
  addCommentsRoutes(given);
  addTaxonomiesRoutes(given);
  addSearchRoute(given);
  const posts = followRoutes<PostType>((type) => addPostsRoutes(given, type));
  const terms = followRoutes<Taxonomy>((taxonomy) => addTermsRoutes(given, taxonomy));
  const refreshPosts = (): void => rest.beforeRead(posts.refresh);
  const refreshTerms = (): void => rest.beforeRead(terms.refresh);
  parts.types.follow(posts.follow);
  parts.taxonomies.follow((taxonomy) => {
    const undo = terms.follow(taxonomy);
    refreshPosts();
    return () => {
      undo();
      refreshPosts();
    };
  });
  parts.meta.onChange(refreshPosts);
  parts.fields.onChange(() => {
    refreshPosts();
    refreshTerms();
  });
  hooks.addFilter('rest_public_authors', async (ids) => [
    ...new Set([...ids, ...(await parts.store.publishedAuthors())]),
  ]);
}

/** Keeps the routes of what is registered with `showInRest`. */
function followRoutes<Item extends { readonly showInRest: boolean }>(add: (item: Item) => Undo) {
  const routes = new Map<Item, Undo>();
  return {
    follow(item: Item): Undo {
      if (!item.showInRest) return () => undefined;
      routes.set(item, add(item));
      return () => {
        routes.get(item)?.();
        routes.delete(item);
      };
    },
    refresh(): void {
      for (const [item, undo] of [...routes]) {
        undo();
        routes.set(item, add(item));
      }
    },
  };
}

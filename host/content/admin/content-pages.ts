import { undoAll } from '#plugin-api';
import type { AdminApi, HooksApi, LazyAdminPage, PostType, SiteApi, Taxonomy, UsersApi } from '#plugin-api';
import type { ContentParts } from '../content.ts';
import { listPath } from './form.ts';

export interface ContentPagesDependencies {
  readonly admin: Pick<AdminApi, 'addPage' | 'url'>;
  readonly parts: ContentParts;
  readonly users: Pick<UsersApi, 'get' | 'list'>;
  readonly site: Pick<SiteApi, 'timezone'>;
  readonly hooks: Pick<HooksApi, 'doActionAsync' | 'addFilter'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Paths of script and styles of the editor. The first call builds them. */
  readonly editorFiles: () => Promise<{ readonly script: string; readonly styles: string }>;
}

/** Pages to list and edit posts, pages, media and every other registered type with `showInAdmin`. */
export function addContentPages(given: ContentPagesDependencies): void {
  const { admin, parts } = given;
  admin.addPage({
    slug: 'comments',
    title: 'Comments',
    menu: 'Comments',
    group: 'content',
    icon: 'comment',
    position: 22,
    style,
    capability: 'moderate_comments',
    body: async () => (await import('./comments-page.ts')).createCommentsPage(given),
  });
  given.hooks.addFilter('admin_home', async (home, context) =>
    (await import('./home.ts')).addContentHome(given, home, context),
  );
  given.hooks.addFilter('admin_search', async (results, search) => [
    ...results,
    ...(await (await import('./home.ts')).findContent(given, search)),
  ]);
  parts.taxonomies.follow((taxonomy) =>
    taxonomy.showInAdmin ? admin.addPage(termsPage(given, taxonomy)) : () => undefined,
  );
  parts.types.follow((type) => {
    if (!type.showInAdmin) return () => undefined;
    const undos = (type.name === 'attachment' ? mediaPages(given) : postPages(given, type)).map((page) =>
      admin.addPage(page),
    );
    return undoAll(undos);
  });
}

const style = 'admin/pages.css';
const positions: Readonly<Record<string, number>> = { post: 5, page: 20 };
const icons: Readonly<Record<string, string>> = { post: 'pin', page: 'page' };

function termsPage(given: ContentPagesDependencies, taxonomy: Taxonomy): LazyAdminPage {
  const { name, label, capabilities, types } = taxonomy;
  return {
    slug: `terms/${name}`,
    title: label,
    menu: label,
    group: 'content',
    icon: 'list',
    position: (positions[types[0] ?? ''] ?? 25) + 1,
    style,
    capability: capabilities.manage_terms,
    body: async () => (await import('./terms-page.ts')).createTermsPage(given, taxonomy),
  };
}

function mediaPages(given: ContentPagesDependencies): LazyAdminPage[] {
  const capability = 'upload_files';
  const load = () => import('./media-pages.ts');
  return [
    {
      slug: 'media',
      title: 'Media',
      menu: 'Media',
      group: 'content',
      icon: 'image',
      position: 21,
      style,
      script: 'admin/dropzone.js',
      capability,
      get uploadLimit() {
        return given.parts.media.limitNow();
      },
      body: async () => (await load()).createMediaPage(given),
    },
    {
      slug: 'media/edit',
      title: 'Edit file',
      parent: 'media',
      style,
      capability,
      body: async () => (await load()).createMediaEditPage(given),
    },
  ];
}

function postPages(given: ContentPagesDependencies, type: PostType): LazyAdminPage[] {
  const path = listPath(type);
  const { capabilities, label, name } = type;
  const singular = type.singularLabel.toLowerCase();
  const load = () => import('./post-edit-page.ts');
  return [
    {
      slug: path,
      title: label,
      menu: label,
      group: 'content',
      icon: icons[name] ?? 'list',
      position: positions[name] ?? 25,
      style,
      capability: capabilities.edit_posts,
      body: async () => (await import('./posts-page.ts')).createPostsPage(given, type),
    },
    {
      slug: `${path}/new`,
      title: `Add ${singular}`,
      parent: path,
      style,
      capability: capabilities.create_posts,
      body: async () => (await load()).createNewPostPage(given, type),
    },
    {
      slug: `${path}/edit`,
      title: `Edit ${singular}`,
      parent: path,
      style,
      capability: capabilities.edit_posts,
      body: async () => (await load()).createEditPostPage(given, type),
    },
    {
      slug: `${path}/revisions`,
      title: 'Revisions',
      parent: path,
      style,
      capability: capabilities.edit_posts,
      body: async () => (await import('./revisions-page.ts')).createRevisionsPage(given, type),
    },
  ];
}

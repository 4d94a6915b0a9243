import { parseId, formatDate, translateText } from '#plugin-api';
import type { AdminPageBody, AdminRequest, AdminView, Post, PostType } from '#plugin-api';
import { autosaveSlug } from '../posts/post-store.ts';
import { hasSameText } from '../posts/revisions.ts';
import { compareTexts } from './compare-texts.ts';
import type { ContentPagesDependencies } from './content-pages.ts';
import { listPath, readQuery, readText } from './form.ts';
import { createFindEditable } from './post-edit-page.ts';
import { authorName, restoreRevision } from './post-save.ts';

/** The versions of a post, two of them side by side. */
export function createRevisionsPage(given: ContentPagesDependencies, type: PostType): AdminPageBody {
  const find = createFindEditable(given, type);
  return {
    render: async (request) =>
      renderRevisions(given, type, { request, post: await find(request, parseId(readQuery(request, 'id'))) }),
    actions: {
      restore: async (request) =>
        restoreRevision(given, type, { request, post: await find(request, parseId(readText(request, 'id'))) }),
    },
  };
}

const maxRevisions = 100;

async function renderRevisions(
  given: ContentPagesDependencies,
  type: PostType,
  { request, post }: { readonly request: AdminRequest; readonly post: Post },
): Promise<AdminView> {
  const { store } = given.parts;
  const found = await store.find({ type: 'revision', status: 'inherit', parents: [post.id], limit: maxRevisions });
  // The newest revision is the post itself.
  const revisions = found.filter((revision, index) => index > 0 || !hasSameText(revision, post));
  const versions = [post, ...revisions];
  const chosen = (name: string, index: number): Post =>
    versions.find(({ id }) => id === parseId(readQuery(request, name))) ?? versions[index] ?? post;
  const [from, to] = [chosen('from', 1), chosen('to', 0)];
  const timezone = await given.site.timezone();
  const options = await Promise.all(
    versions.map(async (version) => ({ value: version.id, label: await describe(given, { version, post, timezone }) })),
  );
  const editHref = `${listPath(type)}/edit?id=${post.id}`;
  const sideOf = (version: Post) => ({
    label: options.find(({ value }) => value === version.id)?.label ?? '',
    fields: version.id === post.id ? null : { id: String(post.id), revision: String(version.id) },
  });
  return {
    template: 'admin/content/revisions',
    title: 'Revisions',
    trail: [{ title: post.title || translateText('Untitled'), href: given.admin.url(editHref) }],
    data: {
      id: post.id,
      options,
      from: from.id,
      to: to.id,
      hasRevisions: revisions.length > 0,
      sides: [sideOf(from), sideOf(to)],
      parts: compareVersions(from, to),
      path: `${listPath(type)}/revisions`,
      editHref,
    },
  };
}

async function describe(
  given: ContentPagesDependencies,
  { version, post, timezone }: { readonly version: Post; readonly post: Post; readonly timezone: string },
): Promise<string> {
  const kind =
    version.id === post.id ? 'Current version' : version.slug === autosaveSlug(post.id) ? 'Unsaved text' : 'Revision';
  const author = version.id === post.id ? '' : await authorName(given, version);
  const time = formatDate(version.modified, 'dateTime', timezone);
  return [`${kind} of ${time}`, ...(author === '' ? [] : [`by ${author}`])].join(' ');
}

function compareVersions(from: Post, to: Post) {
  const names = [
    ['title', 'Title'],
    ['content', 'Content'],
    ['excerpt', 'Excerpt'],
  ] as const;
  return names
    .filter(([name]) => from[name] !== to[name])
    .map(([name, label]) => ({ label, ...compareTexts(from[name], to[name]) }));
}

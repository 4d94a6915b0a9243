import type { ServiceContext } from '../../../wiring.ts';

const paths: Readonly<Record<string, string>> = { post: 'posts', page: 'pages', attachment: 'media' };

/** Where a post is edited; null when it is gone, or of a type without pages in the admin. */
export async function editPostHref({ host }: Pick<ServiceContext, 'host'>, id: number): Promise<string | null> {
  const post = await host.content.posts.get(id);
  if (post === null || host.content.postType(post.type)?.showInAdmin !== true) return null;
  return `${host.admin.url(`${paths[post.type] ?? `content/${post.type}`}/edit`)}?id=${String(id)}`;
}

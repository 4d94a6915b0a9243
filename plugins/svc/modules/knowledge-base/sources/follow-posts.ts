import type { Post } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { knowledgeOf } from '../knowledge.ts';

/** A post was written: bases that follow its type index it, and those that hold it notice when it is public no more. */
export async function followPost(
  context: ServiceContext,
  post: Pick<Post, 'id' | 'type' | 'status' | 'title'>,
): Promise<void> {
  const { bases, sources } = knowledgeOf(context);
  if (post.status === 'publish') {
    for (const base of await bases.list()) {
      if (base.state === 'active' && base.follows.includes(post.type))
        await sources.put({
          baseId: base.id,
          kind: 'post',
          identity: `post:${String(post.id)}`,
          title: post.title,
          postId: post.id,
        });
    }
    return;
  }
  await forgetPost(context, post.id);
}

/** A post is gone, or public no more: nobody is to find it. */
export async function forgetPost(context: ServiceContext, postId: number): Promise<void> {
  const { sources } = knowledgeOf(context);
  for (const source of await sources.ofPost(postId))
    if (source.state !== 'deleting') await sources.markDeleting({ id: source.id });
}

import { RestError, restError, type Post, type User } from '#plugin-api';
import type { ContentWriter } from '../content-writer.ts';
import type { ContentGeneration } from '../hooks.ts';
import { emitGenerated } from '../content-generated.event.ts';
import { emptyDraft, emptyInput, type ContentDraft, type ContentInput } from '../write/draft.ts';
import { preparePost } from './save-post.ts';
import type { PostSettings } from './post-settings.ts';

export interface SaveTextInit {
  readonly uuid: string;
  readonly user: User;
  /** The text as edited. */
  readonly edited: Omit<ContentDraft, 'ai' | 'input_tokens' | 'output_tokens' | 'cost' | 'unpriced' | 'image'>;
  /** Whether to use the image as featured image. */
  readonly withImage: boolean;
  readonly settings: PostSettings;
}

/**
 * Creates the post of a streamed and edited text, at most once. A stopped text had no event yet: it is emitted with the
 * post.
 *
 * @throws RestError 404 if the user has no such text, 409 if it already has a post
 */
export async function saveText(
  writer: ContentWriter,
  { uuid, user, edited, withImage, settings }: SaveTextInit,
): Promise<Post> {
  const { host } = writer;
  const { runs } = writer;
  const item = await findOrAdd(writer, uuid, user);
  if (item.postId !== null) throw saved(item.postId);
  const { image, ...rest } = item.draft;
  const draft: ContentDraft = { ...withoutParts(rest), ...edited, ...(image && withImage && { image }) };
  const generation: ContentGeneration = {
    key: uuid,
    origin: item.status === 'completed' ? 'direct_stream' : 'manual_content_writer',
    input: item.input,
    user,
    postId: null,
  };
  const prepared = await preparePost(host, { draft, generation, settings, position: 0, user });
  return host.database.transaction(async () => {
    if (!(await runs.claimForPost(uuid, user.id))) throw saved((await runs.item(uuid))?.postId ?? 0);
    const post = await prepared.write();
    // The image was generated, whether it is used or not.
    const emitted = { ...draft, ...(image && { image }) };
    if (item.status !== 'completed')
      await emitGenerated(host, { draft: emitted, html: prepared.html, generation, post });
    await runs.change(uuid, { draft, postId: post.id, status: 'completed', message: '' });
    return post;
  });
}

/** A text that was just stopped may not be stored yet. */
async function findOrAdd(
  writer: ContentWriter,
  uuid: string,
  user: User,
): Promise<{
  readonly input: ContentInput;
  readonly draft: ContentDraft;
  readonly status: string;
  readonly postId: number | null;
}> {
  const { runs } = writer;
  const found = await runs.item(uuid);
  if (found !== null && found.userId === user.id && found.batchId === null) return found;
  if (found === null && /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/.test(uuid)) {
    await runs.add({
      uuid,
      userId: user.id,
      input: emptyInput,
      draft: emptyDraft,
      status: 'cancelled',
      message: 'Stopped.',
      postId: null,
    });
    return { input: emptyInput, draft: emptyDraft, status: 'cancelled', postId: null };
  }
  throw restError(404, 'rest_svc_text_not_found', 'Text not found. Write it again.');
}

function withoutParts({ ai, input_tokens, output_tokens, cost, unpriced }: ContentDraft): ContentDraft {
  return { ai, input_tokens, output_tokens, cost, unpriced };
}

function saved(postId: number): RestError {
  return new RestError({
    code: 'rest_svc_text_saved',
    status: 409,
    message: 'This text already has a post.',
    data: { post_id: postId },
  });
}

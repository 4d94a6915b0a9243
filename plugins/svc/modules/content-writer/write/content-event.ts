import type { HostApi, Post } from '#plugin-api';
import type { EventData } from '../../../kit/define-event.ts';
import type { contentGeneratedEvent } from '../content-generated.event.ts';
import type { ContentGeneration } from '../hooks.ts';
import type { ContentDraft } from './draft.ts';

export interface ContentEvent {
  readonly draft: ContentDraft;
  /** HTML of the text. */
  readonly html: string;
  readonly generation: Pick<ContentGeneration, 'key' | 'origin' | 'input'>;
  readonly post: Post | null;
  readonly taskId?: number;
}

/** `content.generated` (contract 6.5, D17). One for each generation: its key is the event's. Stored with the running transaction. */
export async function emitGenerated(
  { hooks, content }: Pick<HostApi, 'hooks' | 'content'>,
  { draft, html, generation, post, taskId }: ContentEvent,
): Promise<void> {
  const { title = post?.title ?? generation.input.topic, excerpt, meta_description, focus_keyword, tags, ai } = draft;
  const data = {
    title,
    content: html,
    ...(excerpt !== undefined && { excerpt }),
    ...(meta_description !== undefined && { meta_description }),
    ...(focus_keyword !== undefined && { focus_keyword }),
    ...(tags !== undefined && { tags }),
    ...(post !== null && { post: { id: post.id, status: post.status, url: await content.permalink(post) } }),
    ...(ai !== null && { ai }),
    ...(taskId !== undefined && { task: { id: taskId } }),
  } satisfies EventData<typeof contentGeneratedEvent>;
  await hooks.doActionAsync('svc_event_emit', 'content.generated', data, {
    origin: generation.origin,
    key: [generation.key],
    meta: { generation_id: generation.key },
    ...(post === null && { resource: { id: generation.key, label: title } }),
  });
}

import { randomUUID } from 'node:crypto';
import { type Post, type User, invalidFields } from '#plugin-api';
import type { ContentWriter } from '../content-writer.ts';
import type { ContentGeneration } from '../hooks.ts';
import { postErrors, type PostSettings } from '../posts/post-settings.ts';
import { preparePost } from '../posts/save-post.ts';
import type { TemplateSettings } from '../templates/template.ts';
import { emitGenerated } from '../content-generated.event.ts';
import type { ContentDraft, ContentInput } from './draft.ts';
import { markdownToHtml } from '../../../kit/markdown-html.ts';
import { readSource } from './read-source.ts';

export interface WriteOnceInit {
  readonly template: TemplateSettings;
  readonly input: ContentInput;
  readonly settings: PostSettings;
  /** The owner. */
  readonly user: User | null;
  readonly signal?: AbortSignal;
}

export interface WrittenText {
  readonly uuid: string;
  readonly draft: ContentDraft;
  readonly html: string;
  readonly post: Post | null;
}

/** Writes one text. Stores the text, its post and its event in one transaction. */
export async function writeOnce(
  writer: ContentWriter,
  { template, input: given, settings, user, signal }: WriteOnceInit,
): Promise<WrittenText> {
  const { host } = writer;
  const { runs, generate } = writer;
  // Validates before the first paid call.
  const errors = await postErrors(host, settings, user);
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
  const source =
    given.source_url !== '' && given.source === ''
      ? await readSource(host, given.source_url, { signal, typed: given.is_typed })
      : null;
  const input = source === null ? given : { ...given, topic: given.topic || source.title, source: source.text };
  const generation: ContentGeneration = {
    key: randomUUID(),
    origin: 'manual_content_writer',
    input,
    user,
    postId: null,
  };
  const draft = await generate({
    template,
    generation,
    user,
    signal,
    imageForm: 'media',
  });
  const prepared =
    settings.save === 'none' ? null : await preparePost(host, { draft, generation, settings, position: 0, user });
  const html = prepared?.html ?? (await markdownToHtml(draft.content ?? ''));
  const post = await host.database.transaction(async () => {
    const saved = prepared === null ? null : await prepared.write();
    await runs.add({
      uuid: generation.key,
      userId: user?.id ?? 0,
      input,
      draft,
      status: 'completed',
      message: '',
      postId: saved?.id ?? null,
    });
    await emitGenerated(host, { draft, html, generation, post: saved });
    return saved;
  });
  return { uuid: generation.key, draft, html, post };
}

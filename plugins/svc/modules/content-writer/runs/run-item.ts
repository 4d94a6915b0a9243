import { JobLostError, readRetryAfter, RestError, restError, type RunningJob, type User } from '#plugin-api';
import type { ContentPorts } from '../content-writer.ts';
import type { ContentGeneration } from '../hooks.ts';
import { preparePost } from '../posts/save-post.ts';
import { emitGenerated } from '../content-generated.event.ts';
import type { ContentDraft, ContentInput } from '../write/draft.ts';
import { createGenerateContent } from '../write/generate-content.ts';
import { markdownToHtml } from '../../../kit/markdown-html.ts';
import { readSource } from '../write/read-source.ts';
import { createBatchStore } from './batch-store.ts';
import type { Batch, Item } from './item.ts';
import { createItemWrites } from './item-writes.ts';

/** Attempts per item for retryable errors. */
const maxAttempts = 3;
/** If the provider requests a longer wait, the item fails. Seconds. */
const longestWait = 15 * 60;

/** Writes one item of a batch. One transaction completes it, creates its post and emits its event. */
export async function runItem(ports: ContentPorts, id: number, job: RunningJob): Promise<void> {
  const writes = createItemWrites(ports.host);
  const item = await writes.begin(id, job.attempt);
  if (item === null) return;
  try {
    const batch = await createBatchStore(ports.host).batch(item.batchId ?? 0);
    if (batch === null) throw restError(404, 'rest_svc_batch_not_found', 'The batch was deleted.');
    const user = await requireOwner(ports, batch.userId);
    const generation: ContentGeneration = {
      key: item.uuid,
      origin: 'manual_content_writer',
      input: await readInput(ports, { batch, item, signal: job.signal }),
      user,
      postId: null,
    };
    const draft = await createGenerateContent(ports)({
      template: batch.settings.template,
      generation,
      user,
      signal: job.signal,
      done: item.draft,
      imageForm: 'media',
      onDraft: async (soFar) => {
        if (!(await writes.saveDraft(item, soFar))) throw new JobLostError();
      },
    });
    await commit(ports, job, { batch, item, draft, generation, user });
  } catch (error) {
    throw job.signal.aborted || error instanceof JobLostError ? error : toJobError(ports, { item, error });
  }
}

async function requireOwner({ host }: ContentPorts, id: number): Promise<User> {
  const user = await host.users.get(id);
  if (user === null) throw restError(400, 'rest_user_invalid_id', 'The owner of this batch was deleted.');
  return user;
}

async function readInput(
  ports: ContentPorts,
  { batch, item, signal }: Pick<Written, 'batch' | 'item'> & Pick<RunningJob, 'signal'>,
): Promise<ContentInput> {
  // Only the text needs the page.
  if (!batch.settings.read_pages || item.input.source_url === '' || item.draft.content !== undefined) return item.input;
  const { title, text } = await readSource(ports.host, item.input.source_url, { signal, typed: item.input.is_typed });
  return { ...item.input, topic: item.input.topic || title, source: text };
}

interface Written {
  readonly batch: Batch;
  readonly item: Item;
  readonly draft: ContentDraft;
  readonly generation: ContentGeneration;
  readonly user: User;
}

async function commit(
  { host }: ContentPorts,
  job: RunningJob,
  { batch, item, draft, generation, user }: Written,
): Promise<void> {
  const { post: settings } = batch.settings;
  const prepared =
    settings.save === 'none'
      ? null
      : await preparePost(host, { draft, generation, settings, position: item.position, user });
  const html = prepared?.html ?? (await markdownToHtml(draft.content ?? ''));
  await job.commit(async () => {
    const post = prepared === null ? null : await prepared.write();
    await emitGenerated(host, { draft, html, generation, post });
    if (!(await createItemWrites(host).complete(item, draft, post?.id ?? null))) throw new JobLostError();
  });
}

/** The error for the job, with a message for people and the decision whether to retry. */
function toJobError({ host }: ContentPorts, { item, error }: { readonly item: Item; readonly error: unknown }): Error {
  if (!(error instanceof RestError))
    host.log.warn('Content batch item failed', {
      event: 'content_item_failed',
      item: item.id,
      attempt: item.attempts,
      error,
    });
  const wait = retryAfter(error);
  return Object.assign(new Error(failureMessage(error)), {
    retryable: wait !== null && item.attempts < maxAttempts,
    headers: { 'retry-after': String(wait ?? 0) },
  });
}

export function failureMessage(error: unknown): string {
  return error instanceof RestError ? error.message : 'An internal error occurred. See the log for details.';
}

/** Seconds that the provider asks to wait; null if the error is not retryable. */
function retryAfter(error: unknown): number | null {
  if (!(error instanceof RestError)) return 0;
  if (error.status !== 429 && error.status < 500) return null;
  const wait = readRetryAfter(error) ?? 0;
  return wait > longestWait ? null : wait;
}

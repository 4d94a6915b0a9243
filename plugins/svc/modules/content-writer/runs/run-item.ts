import { RestError, type User } from '#plugin-api';
import type { ContentPorts } from '../content-writer.ts';
import type { ContentGeneration } from '../hooks.ts';
import { preparePost } from '../posts/save-post.ts';
import { emitGenerated } from '../content-generated.event.ts';
import type { ContentDraft, ContentInput } from '../write/draft.ts';
import { createGenerateContent } from '../write/generate-content.ts';
import { markdownToHtml } from '../../../kit/markdown-html.ts';
import { readSource } from '../write/read-source.ts';
import type { ItemClaims } from './item-claims.ts';
import type { Batch, Claimed } from './item.ts';

/** Attempts per item for retryable errors. */
export const maxAttempts = 3;
/** An item whose process ended this often is not retried: it may crash the next process too. */
const maxTakeovers = 6;
/** Milliseconds before the second and third attempt. */
const waits = [10_000, 60_000];
/** If the provider requests a longer wait, the item fails. Milliseconds. */
const longestWait = 15 * 60_000;

export interface RunItemParts {
  readonly ports: ContentPorts;
  readonly claims: ItemClaims;
  readonly batch: Batch;
  readonly item: Claimed;
  readonly signal: AbortSignal;
}

/** Writes one item of a batch. One transaction completes it, creates its post and emits its event. Never throws. */
export async function runItem({ ports, claims, batch, item, signal }: RunItemParts): Promise<void> {
  if (item.attempts > maxTakeovers)
    return claims.fail(item, 'The process ended several times while writing this text. It is not retried.');
  let draft: ContentDraft = item.draft;
  try {
    const user = await requireOwner(ports, batch.userId);
    const input = await readInput(ports, { batch, item, signal });
    const generation: ContentGeneration = {
      key: item.uuid,
      origin: 'manual_content_writer',
      input,
      user,
      postId: null,
    };
    draft = await createGenerateContent(ports)({
      template: batch.settings.template,
      generation,
      user,
      signal,
      done: draft,
      imageForm: 'media',
      usage: { module: 'content-writer', route: null, botId: null, reference: `content:${item.uuid}` },
      onDraft: async (soFar) => {
        draft = soFar;
        if (!(await claims.saveDraft(item, soFar))) throw new Error('The lease is lost.');
      },
    });
    await commit(ports, claims, { batch, item, draft, generation, user });
  } catch (error) {
    if (signal.aborted) return;
    await settle(ports, claims, { item, error });
  }
}

/** Returns an item to the queue on shutdown, without counting the attempt. */
export function releaseItem(claims: ItemClaims, item: Claimed): Promise<void> {
  return claims.postpone(item, 0, { message: '', counted: false });
}

async function requireOwner({ host }: ContentPorts, id: number): Promise<User> {
  const user = await host.users.get(id);
  if (user === null)
    throw new RestError({ code: 'rest_user_invalid_id', status: 400, message: 'The owner of this batch was deleted.' });
  return user;
}

async function readInput(
  ports: ContentPorts,
  { batch, item, signal }: Pick<RunItemParts, 'batch' | 'item' | 'signal'>,
): Promise<ContentInput> {
  // Only the text needs the page.
  if (!batch.settings.read_pages || item.input.source_url === '' || item.draft.content !== undefined) return item.input;
  const { title, text } = await readSource(ports.host, item.input.source_url, { signal, typed: item.input.is_typed });
  return { ...item.input, topic: item.input.topic || title, source: text };
}

interface Written extends Pick<RunItemParts, 'batch' | 'item'> {
  readonly draft: ContentDraft;
  readonly generation: ContentGeneration;
  readonly user: User;
}

async function commit(
  { host }: ContentPorts,
  claims: ItemClaims,
  { batch, item, draft, generation, user }: Written,
): Promise<void> {
  const { post: settings } = batch.settings;
  const prepared =
    settings.save === 'none'
      ? null
      : await preparePost(host, { draft, generation, settings, position: item.position, user });
  const html = prepared?.html ?? (await markdownToHtml(draft.content ?? ''));
  await host.database.transaction(async () => {
    // First, so that a process that lost the lease creates nothing.
    if (!(await claims.complete(item, draft))) return;
    const post = prepared === null ? null : await prepared.write();
    await emitGenerated(host, { draft, html, generation, post });
    await claims.amend(item, { postId: post?.id ?? null, message: '' });
  });
}

async function settle(
  { host }: ContentPorts,
  claims: ItemClaims,
  { item, error }: { readonly item: Claimed; readonly error: unknown },
): Promise<void> {
  const message = failureMessage(error);
  const wait = retryDelay(error, item.attempts);
  if (!(error instanceof RestError))
    host.log.warn('Content batch item failed', {
      event: 'content_item_failed',
      item: item.id,
      attempt: item.attempts,
      error,
    });
  if (wait !== null && item.attempts < maxAttempts)
    await claims.postpone(item, wait, { message: `${message} Retrying.`, counted: true });
  else await claims.fail(item, message);
}

export function failureMessage(error: unknown): string {
  return error instanceof RestError ? error.message : 'An internal error occurred. See the log for details.';
}

/** Milliseconds until the next attempt; null if the error is not retryable. */
function retryDelay(error: unknown, attempt: number): number | null {
  if (!(error instanceof RestError)) return waits[attempt - 1] ?? null;
  if (error.status !== 429 && error.status < 500) return null;
  const requested =
    Number(Object.entries(error.headers).find(([name]) => name.toLowerCase() === 'retry-after')?.[1] ?? 0) * 1_000;
  const wait = Math.max(waits[attempt - 1] ?? 0, Number.isFinite(requested) ? requested : 0);
  return wait > longestWait ? null : wait;
}

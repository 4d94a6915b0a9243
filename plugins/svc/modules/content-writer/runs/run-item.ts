import { RestError, type User } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import type { ContentGeneration } from '../hooks.ts';
import { preparePost } from '../posts/save-post.ts';
import { emitGenerated } from '../write/content-event.ts';
import type { ContentDraft, ContentInput } from '../write/draft.ts';
import { createGenerateContent } from '../write/generate-content.ts';
import { markdownToHtml } from '../../../kit/markdown-html.ts';
import { readSource } from '../write/read-source.ts';
import type { ItemClaims } from './item-claims.ts';
import type { Batch, Claimed } from './item.ts';

/** Attempts of an item whose provider fails for a while. */
export const mostAttempts = 3;
/** An item whose process ended so often is not tried again: it would take the next one down too. */
const mostTakeovers = 6;
/** Milliseconds before the second and third attempt. */
const waits = [10_000, 60_000];
/** Longer than this nobody waits: the item fails with the reason. Milliseconds. */
const longestWait = 15 * 60_000;

export interface RunItemParts {
  readonly context: ServiceContext;
  readonly claims: ItemClaims;
  readonly batch: Batch;
  readonly item: Claimed;
  readonly signal: AbortSignal;
}

/** Writes one item of a batch, and makes its post and its event in the transaction that completes it. Never throws. */
export async function runItem({ context, claims, batch, item, signal }: RunItemParts): Promise<void> {
  if (item.attempts > mostTakeovers)
    return claims.fail(item, 'The process ended while it was written, several times. It was not tried again.');
  let draft: ContentDraft = item.draft;
  try {
    const user = await ownerOf(context, batch.userId);
    const input = await inputOf(context, { batch, item, signal });
    const generation: ContentGeneration = {
      key: item.uuid,
      origin: 'manual_content_writer',
      input,
      user,
      postId: null,
    };
    draft = await createGenerateContent(context)({
      template: batch.settings.template,
      generation,
      user,
      signal,
      done: draft,
      imageForm: 'media',
      usage: { module: 'content-writer', route: null, botId: null, reference: `content:${item.uuid}` },
      onDraft: async (soFar) => {
        draft = soFar;
        if (!(await claims.keep(item, soFar))) throw new Error('The lease is lost.');
      },
    });
    await commit(context, claims, { batch, item, draft, generation, user });
  } catch (error) {
    if (signal.aborted) return;
    await settle(context, claims, { item, error });
  }
}

/** Puts an item back that this process gives up because it stops. */
export function giveBack(claims: ItemClaims, item: Claimed): Promise<void> {
  return claims.postpone(item, 0, { message: '', counted: false });
}

async function ownerOf({ host }: ServiceContext, id: number): Promise<User> {
  const user = await host.users.get(id);
  if (user === null)
    throw new RestError({ code: 'rest_user_invalid_id', status: 400, message: 'The user who asked for it is gone.' });
  return user;
}

async function inputOf(
  context: ServiceContext,
  { batch, item, signal }: Pick<RunItemParts, 'batch' | 'item' | 'signal'>,
): Promise<ContentInput> {
  // Once the text is written, nothing that follows needs the page.
  if (!batch.settings.read_pages || item.input.source_url === '' || item.draft.content !== undefined) return item.input;
  const { title, text } = await readSource(context.host, item.input.source_url, { signal, typed: item.input.is_typed });
  return { ...item.input, topic: item.input.topic || title, source: text };
}

interface Written extends Pick<RunItemParts, 'batch' | 'item'> {
  readonly draft: ContentDraft;
  readonly generation: ContentGeneration;
  readonly user: User;
}

async function commit(
  { host }: ServiceContext,
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
    // First: whoever lost the lease must make nothing.
    if (!(await claims.complete(item, draft))) return;
    const post = prepared === null ? null : await prepared.write();
    await emitGenerated(host, { draft, html, generation, post });
    await claims.describe(item, { postId: post?.id ?? null, message: '' });
  });
}

async function settle(
  { host }: ServiceContext,
  claims: ItemClaims,
  { item, error }: { readonly item: Claimed; readonly error: unknown },
): Promise<void> {
  const message = sentenceOf(error);
  const wait = waitOf(error, item.attempts);
  if (!(error instanceof RestError))
    host.log.warn('An item of a content batch failed.', { item: item.id, attempt: item.attempts, error });
  if (wait !== null && item.attempts < mostAttempts)
    await claims.postpone(item, wait, { message: `${message} It is tried again.`, counted: true });
  else await claims.fail(item, message);
}

export function sentenceOf(error: unknown): string {
  return error instanceof RestError ? error.message : 'Something went wrong here; the log says what.';
}

/** Milliseconds before another attempt makes sense; null: it never does. */
function waitOf(error: unknown, attempt: number): number | null {
  if (!(error instanceof RestError)) return waits[attempt - 1] ?? null;
  if (error.status !== 429 && error.status < 500) return null;
  const asked =
    Number(Object.entries(error.headers).find(([name]) => name.toLowerCase() === 'retry-after')?.[1] ?? 0) * 1_000;
  const wait = Math.max(waits[attempt - 1] ?? 0, Number.isFinite(asked) ? asked : 0);
  return wait > longestWait ? null : wait;
}

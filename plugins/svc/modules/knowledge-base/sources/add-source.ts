import { randomUUID } from 'node:crypto';
import { isUrl, type Post, invalidFields } from '#plugin-api';
import { documentEndings, kindOfName } from '../../../kit/document-kinds.ts';
import { hashTexts } from '../chunks/chunk-text.ts';
import type { KnowledgeBase } from '../bases/base-store.ts';
import { addressIdentity } from '../indexing/expand-sitemap.ts';
import type { KnowledgeParts } from '../knowledge.ts';
import type { NewSource, Source } from './source.ts';

export const maxFileBytes = 25_000_000;
const maxTextLength = 5_000_000;
/** Posts per call of `postType`. */
const maxPosts = 10_000;
const postBatch = 100;

/** Who requests the indexing, and whether the caller starts its job. */
export type PutOptions = Pick<NewSource, 'origin' | 'isHeld'>;

/** Adds sources, which are indexed in the background. Each method throws RestError 400 with a sentence for each bad field. */
export interface AddSources {
  text(input: { readonly title: string; readonly text: string }): Promise<Source>;
  answer(input: { readonly question: string; readonly answer: string }): Promise<Source>;
  /** Replaces a file of the same name. */
  file(input: { readonly name: string; readonly bytes: Uint8Array }): Promise<Source>;
  address(url: string, options?: PutOptions): Promise<Source>;
  sitemap(url: string): Promise<Source>;
  post(id: number, options?: PutOptions): Promise<Source>;
  /** Adds published posts of a type that are new or have changed; returns how many, and the number of posts. */
  postType(type: string): Promise<{ readonly added: number; readonly all: number }>;
}

export function addSourcesTo(parts: KnowledgeParts, base: KnowledgeBase): AddSources {
  const { sources } = parts;
  const { posts, postType } = parts.host.content;
  const baseId = base.id;
  const putPost = (post: Post, options: PutOptions = {}): Promise<Source> =>
    sources.put({
      baseId,
      kind: 'post',
      identity: `post:${String(post.id)}`,
      title: post.title,
      postId: post.id,
      ...options,
    });

  return {
    async text({ title, text }) {
      const body = required('text', text, 'Enter a text.');
      return sources.put({
        baseId,
        kind: 'text',
        identity: `text:${randomUUID()}`,
        title: title.trim() || body.slice(0, 60),
        content: { body },
      });
    },
    async answer({ question, answer }) {
      const asked = required('question', question, 'Enter the question.').replace(/\s+/g, ' ');
      const body = `Question: ${asked}\n\nAnswer: ${required('answer', answer, 'Enter the answer.')}`;
      return sources.put({
        baseId,
        kind: 'qa',
        identity: `qa:${hashTexts([asked.toLowerCase()])}`,
        title: asked,
        content: { body },
      });
    },
    async file({ name, bytes }) {
      const fileName = name.split(/[\\/]/).at(-1)?.trim() ?? '';
      if (kindOfName(fileName) === undefined)
        throw invalidFields({
          file: `Upload a file of one of these types: ${documentEndings.join(', ')}.`,
        });
      if (bytes.length > maxFileBytes) throw invalidFields({ file: 'Files can have up to 25 MB. Split this file.' });
      return sources.put({
        baseId,
        kind: 'file',
        identity: `file:${hashTexts([fileName])}`,
        title: fileName,
        content: { fileName, file: bytes },
      });
    },
    async address(url, options = {}) {
      const address = parseUrl(url);
      return sources.put({
        baseId,
        kind: 'address',
        identity: addressIdentity(address),
        title: address,
        url: address,
        ...options,
      });
    },
    async sitemap(url) {
      const address = parseUrl(url);
      return sources.put({
        baseId,
        kind: 'sitemap',
        identity: `sitemap:${hashTexts([address])}`,
        title: address,
        url: address,
      });
    },
    async post(id, options) {
      const post = await posts.get(id);
      if (post?.status !== 'publish') throw invalidFields({ post: `No published post has the id ${String(id)}.` });
      if (post.password !== '')
        throw invalidFields({ post: `The post ${String(id)} is protected by a password. Remove the password first.` });
      return putPost(post, options);
    },
    async postType(type) {
      if (postType(type) === undefined) throw invalidFields({ type: 'This post type does not exist.' });
      const known = await indexedPosts(parts, baseId);
      let added = 0;
      let all = 0;
      for (let offset = 0; offset < maxPosts; offset += postBatch) {
        const some = await posts.find({
          type,
          hasPassword: false,
          orderBy: 'id',
          order: 'asc',
          limit: postBatch,
          offset,
        });
        all += some.length;
        for (const post of some.filter(({ id, modified }) => modified >= (known.get(id) ?? 0))) {
          await putPost(post);
          added += 1;
        }
        if (some.length < postBatch) break;
      }
      return { added, all };
    },
  };
}

/** Times at which the posts of a base were indexed. */
async function indexedPosts(parts: KnowledgeParts, baseId: number): Promise<Map<number, number>> {
  const known = new Map<number, number>();
  for (let offset = 0; ; offset += 500) {
    const some = await parts.sources.list({ baseId, kind: 'post' }, { limit: 500, offset });
    for (const { postId, indexedAt, state } of some)
      if (postId !== null && state === 'indexed') known.set(postId, indexedAt ?? 0);
    if (some.length < 500) return known;
  }
}

function required(name: string, typed: string, sentence: string): string {
  const text = typed.trim();
  if (text === '') throw invalidFields({ [name]: sentence });
  if (text.length > maxTextLength)
    throw invalidFields({ [name]: 'Use at most 5 million characters, or split the text.' });
  return text;
}

function parseUrl(typed: string): string {
  const text = typed.trim();
  if (text.length > 2_000 || !/^https?:\/\//i.test(text) || !isUrl(text))
    throw invalidFields({ url: 'Enter a URL that begins with https:// or http://.' });
  const url = new URL(text);
  url.hash = '';
  return url.href;
}

/**
 * Queues a published post in all bases that it was added to or that index its type. Removes any other post from all bases,
 * until it is published again.
 */
export async function followPost(
  parts: KnowledgeParts,
  post: Pick<Post, 'id' | 'type' | 'status' | 'title' | 'password'>,
): Promise<void> {
  const { bases, sources } = parts;
  if (post.status === 'publish' && post.password === '') {
    const followers = new Set(await sources.listFollowers(post.id));
    for (const base of await bases.list()) {
      if (base.state === 'active' && (followers.has(base.id) || base.follows.includes(post.type)))
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
  await removePost(parts, post.id);
}

/** Removes a post that was deleted. */
export async function forgetPost(parts: KnowledgeParts, postId: number): Promise<void> {
  await removePost(parts, postId);
  await parts.sources.forgetPost(postId);
}

async function removePost(parts: KnowledgeParts, postId: number): Promise<void> {
  const { sources } = parts;
  for (const source of await sources.listByPost(postId))
    if (source.state !== 'deleting') await sources.markDeleting({ id: source.id }, { keepsFollowing: true });
}

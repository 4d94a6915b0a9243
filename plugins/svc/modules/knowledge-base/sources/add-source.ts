import { randomUUID } from 'node:crypto';
import { isUrl, type Post } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { documentEndings } from '../../../kit/read-document.ts';
import { hashOf } from '../chunks/numbered-chunks.ts';
import { refused } from '../bases/create-base.ts';
import type { KnowledgeBase } from '../bases/base.ts';
import { addressIdentity } from '../indexing/spread-sitemap.ts';
import { knowledgeOf } from '../knowledge.ts';
import type { NewSource, Source } from './source.ts';

export const mostFileBytes = 25_000_000;
const mostText = 5_000_000;
/** Posts that are added at once. */
const mostPosts = 10_000;
const postsAtOnce = 100;

/** Who asks, and whether the caller does the work itself. */
export type Asked = Pick<NewSource, 'origin' | 'heldFor'>;

/** Sources of a knowledge base as somebody adds them. Each throws RestError 400 with a sentence for each bad field, and is indexed in the background. */
export interface AddSources {
  text(input: { readonly title: string; readonly text: string }): Promise<Source>;
  answer(input: { readonly question: string; readonly answer: string }): Promise<Source>;
  /** One of the same name is replaced. */
  file(input: { readonly name: string; readonly bytes: Uint8Array }): Promise<Source>;
  address(url: string, asked?: Asked): Promise<Source>;
  sitemap(url: string): Promise<Source>;
  post(id: number, asked?: Asked): Promise<Source>;
  /** All published posts of a type that are new, or have changed since they were added; answers how many, and of how many. */
  postType(type: string): Promise<{ readonly added: number; readonly all: number }>;
}

export function addSourcesTo(context: ServiceContext, base: KnowledgeBase): AddSources {
  const { sources } = knowledgeOf(context);
  const { posts, postType } = context.host.content;
  const baseId = base.id;
  const putPost = (post: Post, asked: Asked = {}): Promise<Source> =>
    sources.put({
      baseId,
      kind: 'post',
      identity: `post:${String(post.id)}`,
      title: post.title,
      postId: post.id,
      ...asked,
    });

  return {
    async text({ title, text }) {
      const body = required('text', text, 'Type or paste a text.');
      return sources.put({
        baseId,
        kind: 'text',
        identity: `text:${randomUUID()}`,
        title: title.trim() || body.slice(0, 60),
        content: { body },
      });
    },
    async answer({ question, answer }) {
      const asked = required('question', question, 'Type the question.').replace(/\s+/g, ' ');
      const body = `Question: ${asked}\n\nAnswer: ${required('answer', answer, 'Type the answer.')}`;
      return sources.put({
        baseId,
        kind: 'qa',
        identity: `qa:${hashOf([asked.toLowerCase()])}`,
        title: asked,
        content: { body },
      });
    },
    async file({ name, bytes }) {
      const fileName = name.split(/[\\/]/).at(-1)?.trim() ?? '';
      if (!/\.(?:txt|text|md|markdown|html?|pdf)$/i.test(fileName))
        throw refused({
          file: `Files that end in ${documentEndings.join(', ')} can be read. Save it as one of these.`,
        });
      if (bytes.length > mostFileBytes) throw refused({ file: 'A file may have 25 MB. Split it.' });
      return sources.put({
        baseId,
        kind: 'file',
        identity: `file:${hashOf([fileName])}`,
        title: fileName,
        content: { fileName, file: bytes },
      });
    },
    async address(url, asked = {}) {
      const address = addressOf(url);
      return sources.put({
        baseId,
        kind: 'address',
        identity: addressIdentity(address),
        title: address,
        url: address,
        ...asked,
      });
    },
    async sitemap(url) {
      const address = addressOf(url);
      return sources.put({
        baseId,
        kind: 'sitemap',
        identity: `sitemap:${hashOf([address])}`,
        title: address,
        url: address,
      });
    },
    async post(id, asked) {
      const post = await posts.get(id);
      if (post?.status !== 'publish') throw refused({ post: `There is no published post with the id ${String(id)}.` });
      return putPost(post, asked);
    },
    async postType(type) {
      if (postType(type) === undefined) throw refused({ type: 'There is no such type of posts.' });
      const known = await postsOf(context, baseId);
      let added = 0;
      let all = 0;
      for (let offset = 0; offset < mostPosts; offset += postsAtOnce) {
        const some = await posts.find({ type, orderBy: 'id', order: 'asc', limit: postsAtOnce, offset });
        all += some.length;
        for (const post of some.filter(({ id, modified }) => modified >= (known.get(id) ?? 0))) {
          await putPost(post);
          added += 1;
        }
        if (some.length < postsAtOnce) break;
      }
      return { added, all };
    },
  };
}

/** When each post of a base was indexed, or 0 where it has not been. */
async function postsOf(context: ServiceContext, baseId: number): Promise<Map<number, number>> {
  const known = new Map<number, number>();
  for (let offset = 0; ; offset += 500) {
    const some = await knowledgeOf(context).sources.list({ baseId, kind: 'post' }, { limit: 500, offset });
    for (const { postId, indexedAt, state } of some)
      if (postId !== null && state === 'indexed') known.set(postId, indexedAt ?? 0);
    if (some.length < 500) return known;
  }
}

function required(name: string, typed: string, sentence: string): string {
  const text = typed.trim();
  if (text === '') throw refused({ [name]: sentence });
  if (text.length > mostText) throw refused({ [name]: 'This is longer than 5 million characters. Split it.' });
  return text;
}

function addressOf(typed: string): string {
  const text = typed.trim();
  if (text.length > 2_000 || !/^https?:\/\//i.test(text) || !isUrl(text))
    throw refused({ url: 'Type an address that begins with https:// or http://.' });
  const url = new URL(text);
  url.hash = '';
  return url.href;
}

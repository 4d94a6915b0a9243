import { RestError } from '#plugin-api';
import type { AutomationItem, AutomationResult } from '../../../kit/automation-task.ts';
import type { ServiceContext } from '../../../wiring.ts';
import { contentOf } from '../content.ts';
import type { ContentGeneration } from '../hooks.ts';
import { metaKeys } from '../posts/post-meta.ts';
import { editablePost, prepareRewrite } from '../posts/save-post.ts';
import { emitGenerated } from '../write/content-event.ts';
import { emptyInput } from '../write/draft.ts';
import type { Present } from '../write/prompt-values.ts';
import { authorOf, templateOf } from './content-writing.ts';

/** What one task of `post_rewriting` does for one post: the parts its template switches on are written anew, all else stays. */
export async function runPostRewriting(context: ServiceContext, item: AutomationItem): Promise<AutomationResult> {
  const { host } = context;
  const id = Number(item.input['post_id'] ?? item.target);
  if (!Number.isInteger(id) || id < 1)
    throw new RestError({ code: 'rest_post_invalid_id', status: 400, message: `${item.target} is no id of a post.` });
  const user = await authorOf(context, item);
  const post = await editablePost(host, id, user);
  const template = await templateOf(context, item.settings['template'], 'rewrite');
  const text = (name: string): string => (typeof item.settings[name] === 'string' ? item.settings[name] : '');
  const generation: ContentGeneration = {
    key: item.key,
    origin: 'automated_task_content_writing',
    user,
    postId: id,
    input: {
      ...emptyInput,
      topic: post.title,
      keywords: text('keywords'),
      instructions: text('instructions'),
      source_url: await host.content.permalink(post),
    },
  };
  const meta = await host.content.meta.all(id);
  const one = (key: string): string => (typeof meta[key]?.[0] === 'string' ? meta[key][0] : '');
  const present: Present = {
    title: post.title,
    content: post.content,
    excerpt: post.excerpt,
    meta_description: one(metaKeys.description),
    focus_keyword: one(metaKeys.keyword),
    tags: (meta[metaKeys.tags] ?? []).filter((tag): tag is string => typeof tag === 'string'),
  };
  const draft = await contentOf(context).generate({
    template,
    generation,
    user,
    present,
    usage: item.origin,
    signal: item.signal,
    imageForm: 'b64_json',
  });
  const prepared = await prepareRewrite(host, { draft, generation, user }, id);
  return {
    message: `“${draft.title ?? post.title}” is rewritten.`,
    ...(draft.ai !== null && { ai: draft.ai }),
    commit: async () => {
      const before = await host.content.posts.get(id);
      // What somebody wrote while the model did must not be lost.
      if (before?.title !== post.title || before.content !== post.content || before.excerpt !== post.excerpt)
        throw new RestError({
          code: 'rest_svc_post_changed',
          status: 409,
          message: 'The post was changed while it was being rewritten. Nothing was overwritten; try it again.',
        });
      const saved = await prepared.write();
      await emitGenerated(host, { draft, html: prepared.html, generation, post: saved, taskId: item.task.id });
      return { postId: saved.id };
    },
  };
}

import type { CliCommand } from '#plugin-api';
import type { ServiceContext } from '../../wiring.ts';
import { contentOf } from './content.ts';
import { readWish } from './read-wish.ts';
import { templateCommands } from './templates/template-commands.ts';
import { costOfDraft } from './write/draft.ts';
import { writeOnce } from './write/write-once.ts';

/** `svc content generate`, `svc content templates list|get|set|delete|export|import`, `svc content work`. */
export function contentCommands(context: ServiceContext): CliCommand[] {
  return [
    {
      name: 'svc content generate',
      description: 'Write a text and print it with its cost, and the id of its post where one is made.',
      flags: {
        json: {
          type: 'object',
          description:
            '{"topic" or "source_url", "keywords", "instructions", "source", "template", "provider", "model", "parts": ["title", "content", ...], "save": none|draft|pending|publish|schedule, "type", "author", "category", "tags": [], "date": "2026-05-15 12:00"}; save is none where it is left out.',
        },
      },
      run: async ({ flags }) => {
        const wish = await readWish(context, flags['json']);
        const { uuid, draft, html, post } = await writeOnce(context, wish);
        const cost = costOfDraft(draft);
        const { title, content, excerpt, meta_description, focus_keyword, tags, image, ai } = draft;
        return {
          id: uuid,
          ...(title !== undefined && { title }),
          ...(content !== undefined && { content, html }),
          ...(excerpt !== undefined && { excerpt }),
          ...(meta_description !== undefined && { meta_description }),
          ...(focus_keyword !== undefined && { focus_keyword }),
          ...(tags !== undefined && { tags: tags.join(', ') }),
          ...(image && { image: image.url, image_id: image.media_id }),
          provider: ai?.provider ?? null,
          model: ai?.model ?? null,
          input_tokens: draft.input_tokens,
          output_tokens: draft.output_tokens,
          // Dollars.
          cost: cost === null ? null : cost / 1_000_000,
          post_id: post?.id ?? null,
          ...(post !== null && { post_status: post.status, post_url: await context.host.content.permalink(post) }),
        };
      },
    },
    {
      name: 'svc content work',
      description: 'Write what waits in batches, until nothing is due.',
      run: async () => {
        await contentOf(context).worker.idle();
        return 'Nothing is due any more.';
      },
    },
    ...templateCommands(context),
  ];
}

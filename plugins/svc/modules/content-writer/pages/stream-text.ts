import { randomUUID } from 'node:crypto';
import type { AdminRequest } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { eventStream, type ServerSentEvent } from '../../../kit/server-sent-events.ts';
import { contentOf } from '../content.ts';
import type { ContentGeneration } from '../hooks.ts';
import { sentenceOf } from '../runs/run-item.ts';
import type { TemplateSettings } from '../templates/template.ts';
import { emitGenerated } from '../write/content-event.ts';
import { emptyDraft, type ContentDraft, type ContentInput } from '../write/draft.ts';
import { markdownToHtml } from '../../../kit/markdown-html.ts';
import { readSource } from '../write/read-source.ts';
import { spentWords } from './estimate-words.ts';

export interface StreamInit {
  readonly template: TemplateSettings;
  readonly input: ContentInput;
  readonly request: Pick<AdminRequest, 'user' | 'signal'>;
}

/**
 * Writes one text while its reader watches: `begin {uuid}`, `part {part}`, `text {part, text}`, `done {part, value, html?}`,
 * and at last `end {spent}` or `failed {message}`. When the reader hangs up, the call under way is ended, and what was
 * written until then is kept with what it cost.
 */
export function streamText(context: ServiceContext, init: StreamInit): AsyncIterable<string> {
  return eventStream(eventsOf(context, init), { clock: context.host.clock });
}

async function* eventsOf(
  context: ServiceContext,
  { template, input: given, request: { user, signal: hungUp } }: StreamInit,
): AsyncGenerator<ServerSentEvent> {
  const uuid = randomUUID();
  const stop = new AbortController();
  const signal = AbortSignal.any([hungUp, stop.signal]);
  const queue = createQueue();
  let draft: ContentDraft = emptyDraft;
  let input = given;
  const usage = { module: 'content-writer', route: null, botId: null, reference: `content:${uuid}` };

  async function write(): Promise<void> {
    queue.push('begin', { uuid });
    if (input.source_url !== '' && input.source === '') {
      queue.push('reading', { url: input.source_url });
      const { title, text } = await readSource(context.host, input.source_url, { signal, typed: input.is_typed });
      input = { ...input, topic: input.topic || title, source: text };
    }
    const generation: ContentGeneration = { key: uuid, origin: 'direct_stream', input, user, postId: null };
    draft = await contentOf(context).generate({
      template,
      generation,
      user,
      usage,
      signal,
      imageForm: 'media',
      onPart: (part) => {
        queue.push('part', { part });
      },
      onText: (part, text) => {
        queue.push('text', { part, text });
      },
      onDraft: async (soFar, part) => {
        draft = soFar;
        queue.push('done', {
          part,
          value: soFar[part],
          ...(part === 'content' && { html: await markdownToHtml(soFar.content ?? '') }),
        });
      },
    });
    await keep(context, { uuid, userId: user.id, input, draft, generation });
    // What filters changed in the end is seen, too.
    queue.push('end', { draft, html: await markdownToHtml(draft.content ?? ''), spent: spentOf(draft) });
  }

  const writing = write()
    .catch(async (error: unknown) => {
      const stopped = signal.aborted;
      const message = stopped ? 'It was stopped.' : sentenceOf(error);
      if (!stopped) context.host.log.info('A text could not be written.', { error });
      await contentOf(context).runs.add({
        uuid,
        userId: user.id,
        input,
        draft,
        status: stopped ? 'cancelled' : 'failed',
        message,
        postId: null,
      });
      queue.push('failed', { message, spent: spentOf(draft) });
    })
    .catch((error: unknown) => {
      context.host.log.error('What was written of a text could not be kept.', { error });
    })
    .finally(() => {
      queue.end();
    });

  try {
    yield* queue.events();
  } finally {
    stop.abort(new Error('The reader hung up.'));
    await writing;
  }
}

/** Kept, and told of, in one transaction: an event for each text that was streamed to its end. */
async function keep(
  context: ServiceContext,
  {
    uuid,
    userId,
    input,
    draft,
    generation,
  }: {
    readonly uuid: string;
    readonly userId: number;
    readonly input: ContentInput;
    readonly draft: ContentDraft;
    readonly generation: ContentGeneration;
  },
): Promise<void> {
  const html = await markdownToHtml(draft.content ?? '');
  await context.host.database.transaction(async () => {
    const added = await contentOf(context).runs.add({
      uuid,
      userId,
      input,
      draft,
      status: 'completed',
      message: '',
      postId: null,
    });
    if (added) await emitGenerated(context.host, { draft, html, generation, post: null });
  });
}

function spentOf(draft: ContentDraft): string {
  return spentWords({ tokens: draft.input_tokens + draft.output_tokens, cost: draft.cost, unpriced: draft.unpriced });
}

/** Events that wait to be sent. */
function createQueue() {
  const waiting: ServerSentEvent[] = [];
  let ended = false;
  let wake: () => void = () => undefined;
  return {
    push(event: string, data: unknown): void {
      waiting.push({ event, data });
      wake();
    },
    end(): void {
      ended = true;
      wake();
    },
    async *events(): AsyncGenerator<ServerSentEvent> {
      for (;;) {
        const next = waiting.shift();
        if (next !== undefined) yield next;
        else if (ended) return;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    },
  };
}

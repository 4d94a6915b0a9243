import { randomUUID } from 'node:crypto';
import type { AdminRequest } from '#plugin-api';
import type { ContentWriter } from '../content-writer.ts';
import { createEventQueue } from '../../../kit/event-queue.ts';
import { eventStream, type ServerSentEvent } from '../../../kit/server-sent-events.ts';
import type { ContentGeneration } from '../hooks.ts';
import { failureMessage } from '../runs/run-item.ts';
import type { TemplateSettings } from '../templates/template.ts';
import { emitGenerated } from '../content-generated.event.ts';
import { emptyDraft, type ContentDraft, type ContentInput } from '../write/draft.ts';
import { markdownToHtml } from '../../../kit/markdown-html.ts';
import { readSource } from '../write/read-source.ts';
import { formatSpend } from '../write/estimate.ts';

export interface StreamInit {
  readonly template: TemplateSettings;
  readonly input: ContentInput;
  readonly request: Pick<AdminRequest, 'user' | 'signal'>;
}

/**
 * Streams one text as events: `begin {uuid}`, `part {part}`, `text {part, text}`, `done {part, value, html?}`, and finally
 * `end {spent}` or `failed {message}`. If the client disconnects, the running call is aborted, and the text so far is stored
 * with its cost.
 */
export function streamText(writer: ContentWriter, init: StreamInit): AsyncIterable<string> {
  return eventStream(eventsOf(writer, init), { clock: writer.host.clock });
}

async function* eventsOf(
  writer: ContentWriter,
  { template, input: given, request: { user, signal: disconnected } }: StreamInit,
): AsyncGenerator<ServerSentEvent> {
  const uuid = randomUUID();
  const stop = new AbortController();
  const signal = AbortSignal.any([disconnected, stop.signal]);
  const queue = createEventQueue<ServerSentEvent>();
  let draft: ContentDraft = emptyDraft;
  let input = given;

  async function write(): Promise<void> {
    queue.push({ event: 'begin', data: { uuid } });
    if (input.source_url !== '' && input.source === '') {
      queue.push({ event: 'reading', data: { url: input.source_url } });
      const { title, text } = await readSource(writer.host, input.source_url, { signal, typed: input.is_typed });
      input = { ...input, topic: input.topic || title, source: text };
    }
    const generation: ContentGeneration = { key: uuid, origin: 'direct_stream', input, user, postId: null };
    draft = await writer.generate({
      template,
      generation,
      user,
      signal,
      imageForm: 'media',
      onPart: (part) => {
        queue.push({ event: 'part', data: { part } });
      },
      onText: (part, text) => {
        queue.push({ event: 'text', data: { part, text } });
      },
      onDraft: async (soFar, part) => {
        draft = soFar;
        queue.push({
          event: 'done',
          data: {
            part,
            value: soFar[part],
            ...(part === 'content' && { html: await markdownToHtml(soFar.content ?? '') }),
          },
        });
      },
    });
    await storeText(writer, { uuid, userId: user.id, input, draft, generation });
    // The final draft includes the changes of filters.
    queue.push({
      event: 'end',
      data: { draft, html: await markdownToHtml(draft.content ?? ''), spent: formatDraftSpend(draft) },
    });
  }

  const writing = write()
    .catch(async (error: unknown) => {
      const stopped = signal.aborted;
      const message = stopped ? 'Stopped.' : failureMessage(error);
      if (!stopped) writer.host.log.info('Text generation failed', { event: 'content_text_failed', error });
      await writer.runs.add({
        uuid,
        userId: user.id,
        input,
        draft,
        status: stopped ? 'cancelled' : 'failed',
        message,
        postId: null,
      });
      queue.push({ event: 'failed', data: { message, spent: formatDraftSpend(draft) } });
    })
    .catch((error: unknown) => {
      writer.host.log.error('Failed to store a partial text', { event: 'content_text_lost', error });
    })
    .finally(() => {
      queue.end();
    });

  try {
    yield* queue.events();
  } finally {
    stop.abort(new Error('The client disconnected.'));
    await writing;
  }
}

/** Stores a completed text and its event in one transaction. */
async function storeText(
  writer: ContentWriter,
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
  await writer.host.database.transaction(async () => {
    const added = await writer.runs.add({
      uuid,
      userId,
      input,
      draft,
      status: 'completed',
      message: '',
      postId: null,
    });
    if (added) await emitGenerated(writer.host, { draft, html, generation, post: null });
  });
}

function formatDraftSpend(draft: ContentDraft): string {
  return formatSpend({ tokens: draft.input_tokens + draft.output_tokens, cost: draft.cost, unpriced: draft.unpriced });
}

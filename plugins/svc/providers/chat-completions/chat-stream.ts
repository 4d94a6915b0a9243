import { listAt, objectAt, textAt, type JsonObject } from '../json.ts';
import type { ProviderConnection, TextResult } from '../provider.ts';
import type { EventReader } from '../streams/read-events.ts';
import { eventBody, errorFromStream } from '../streams/stream-error.ts';
import { chatResponse, chatUsage, contentText } from './chat-response.ts';
import { createReasoningFilter } from './strip-reasoning.ts';

export interface ChatStream extends EventReader {
  /** Once read to its end. Throws as `chatResponse` does. */
  result(): Omit<TextResult, 'ignored'>;
}

/**
 * Reads the chunks of a chat completion. A stream ends with `[DONE]`; where that is missing, one whose choice has told why it
 * ended is complete. Usage comes in the last chunk, in one of its own, or (xAI) grows from chunk to chunk.
 */
export function createChatStream(
  asked: { readonly model: string },
  connection: ProviderConnection,
  onText: (piece: string) => void,
): ChatStream {
  const thinking = createReasoningFilter();
  const told = {
    content: '',
    refusal: '',
    reason: null as string | null,
    usage: undefined as unknown,
    model: null as string | null,
  };
  let answer: JsonObject | null = null;
  let hasChoice = false;

  const show = (piece: string): void => {
    told.content += piece;
    if (piece !== '') onText(piece);
  };
  const takeChunk = (chunk: JsonObject): void => {
    const choice = listAt(chunk, 'choices')[0];
    const failed = [chunk, choice].find((holder) => Boolean((holder as JsonObject | undefined)?.['error']));
    if (failed !== undefined) throw errorFromStream(failed, connection);
    told.model = textAt(chunk, 'model') ?? told.model;
    if (chatUsage(chunk['usage']) !== null) told.usage = chunk['usage'];
    if (choice === undefined) return;
    hasChoice = true;
    const delta = objectAt(choice, 'delta');
    told.refusal += textOf(delta['refusal']);
    told.reason = textAt(choice, 'finish_reason') ?? told.reason;
    show(thinking.push(contentText(delta['content'])));
  };

  return {
    take({ data }) {
      if (data.startsWith('[DONE]')) return true;
      takeChunk(eventBody(data));
      return false;
    },
    whole(body) {
      answer = body;
    },
    isComplete: () => told.reason !== null,
    result() {
      if (answer !== null) {
        const whole = chatResponse(answer, asked, connection);
        if (whole.content !== '') onText(whole.content);
        return whole;
      }
      show(thinking.end());
      const { content, refusal, reason: finish_reason, usage, model } = told;
      const choices = hasChoice ? [{ message: { content, refusal }, finish_reason }] : [];
      // What is left of a text whose reasoning was taken out may look like reasoning itself: it is not read again.
      return { ...chatResponse({ choices, usage, model }, asked, connection), ...(hasChoice && { content }) };
    },
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

import { asRecord } from '#plugin-api';
import type { Reasoning } from '../../../kit/reasoning.ts';
import type { ServerSentEvent } from '../../../kit/server-sent-events.ts';
import type { ToolCall } from '../../../kit/tools.ts';
import type { ResponseResult } from './response-run.ts';
import {
  callItem,
  messageItem,
  newId,
  reasoningItem,
  summaryPart,
  textPart,
  writeResponse,
  type ResponseHead,
} from './write-response.ts';

type Members = Readonly<Record<string, unknown>>;

/** The events of a streamed response, as OpenAI sends them. */
export interface ResponseEvents {
  onText(piece: string): void;
  onReasoning(piece: Reasoning): void;
  /** An event of a vendor with this format, which is passed on instead of what the others get. */
  onEvent(event: Members): void;
  /** The rest of the output, and the last event. */
  end(result: ResponseResult): void;
  /** An error, as the event that clients throw; the last event is returned. */
  fail(error: Members): ServerSentEvent;
}

/** An item that is being written. */
interface OpenItem {
  readonly kind: 'message' | 'reasoning';
  readonly id: string;
  text: string;
}

export function createResponseEvents(push: (event: ServerSentEvent) => void, head: ResponseHead): ResponseEvents {
  let number = 0;
  let hasStarted = false;
  let begun: Members = head;
  /** Whether the events are those of a vendor with this format. */
  let isNative = false;
  let open: OpenItem | null = null;
  const output: Members[] = [];

  const eventOf = (type: string, members: Members): ServerSentEvent => ({
    event: type,
    data: { type, sequence_number: number++, ...members },
  });
  const send = (type: string, members: Members): void => push(eventOf(type, members));
  const start = (): void => {
    if (hasStarted) return;
    hasStarted = true;
    const response = { ...begun, status: 'in_progress', output: [] };
    send('response.created', { response });
    send('response.in_progress', { response });
  };
  const at = (members: Members = {}): Members => ({ output_index: output.length, ...members });
  const add = (item: Members): void => {
    start();
    send('response.output_item.added', at({ item }));
  };
  const done = (item: Members): void => {
    send('response.output_item.done', at({ item }));
    output.push(item);
  };
  const partAt = ({ kind, id }: OpenItem): Members =>
    at({ item_id: id, ...(kind === 'message' ? { content_index: 0 } : { summary_index: 0 }) });

  /** Ends the item that is open. @param piece of reasoning with its vendor's item */
  const close = (piece: Omit<Reasoning, 'text'> = {}): void => {
    if (open === null) return;
    const { kind, id, text } = open;
    const part = partAt(open);
    open = null;
    if (kind === 'message') {
      send('response.output_text.done', { ...part, text, logprobs: [] });
      send('response.content_part.done', { ...part, part: textPart(text) });
      return done(messageItem(id, [textPart(text)]));
    }
    send('response.reasoning_summary_text.done', { ...part, text });
    send('response.reasoning_summary_part.done', { ...part, part: summaryPart(text) });
    done(reasoningItem({ text, ...piece }, id));
  };
  const opened = (kind: OpenItem['kind']): OpenItem => {
    if (open?.kind === kind) return open;
    close();
    const item: OpenItem = { kind, id: newId(kind === 'message' ? 'msg' : 'rs'), text: '' };
    if (kind === 'message') {
      add(messageItem(item.id, [], 'in_progress'));
      send('response.content_part.added', { ...partAt(item), part: textPart('') });
    } else {
      add(reasoningItem({ text: '' }, item.id));
      send('response.reasoning_summary_part.added', { ...partAt(item), part: summaryPart('') });
    }
    return (open = item);
  };
  const write = (kind: OpenItem['kind'], delta: string): void => {
    if (delta === '') return;
    const item = opened(kind);
    item.text += delta;
    if (kind === 'message') send('response.output_text.delta', { ...partAt(item), delta, logprobs: [] });
    else send('response.reasoning_summary_text.delta', { ...partAt(item), delta });
  };
  const takeReasoning = ({ text, ...piece }: Reasoning): void => {
    write('reasoning', text);
    if (piece.item === undefined) return;
    if (open?.kind === 'reasoning') return close(piece);
    close();
    const item = reasoningItem({ text: '', ...piece });
    add(item);
    done(item);
  };
  const refuse = (refusal: string): void => {
    close();
    const id = newId('msg');
    const [part, position] = [{ type: 'refusal', refusal }, at({ item_id: id, content_index: 0 })];
    add(messageItem(id, [], 'in_progress'));
    send('response.content_part.added', { ...position, part: { type: 'refusal', refusal: '' } });
    send('response.refusal.delta', { ...position, delta: refusal });
    send('response.refusal.done', { ...position, refusal });
    send('response.content_part.done', { ...position, part });
    done(messageItem(id, [part]));
  };
  const call = (given: ToolCall): void => {
    const item = callItem(given);
    add({ ...item, status: 'in_progress', arguments: '' });
    const position = at({ item_id: item['id'] });
    send('response.function_call_arguments.delta', { ...position, delta: given.arguments });
    send('response.function_call_arguments.done', { ...position, name: given.name, arguments: given.arguments });
    done(item);
  };
  return {
    onEvent({ type, sequence_number: _number, response, ...members }) {
      isNative = true;
      if (type === 'response.created') begun = { ...begun, ...asRecord(response), model: head.model };
      start();
      if (type !== 'response.created') send(String(type), members);
    },
    onText(piece) {
      if (!isNative) write('message', piece);
    },
    onReasoning(piece) {
      if (!isNative) takeReasoning(piece);
    },
    end(result) {
      start();
      const { content, refusal, reasoning = [], toolCalls = [] } = result;
      if (!isNative && output.length === 0 && open === null) {
        for (const piece of reasoning) takeReasoning(piece);
        write('message', content);
      }
      close();
      if (!isNative && result.native === undefined) {
        if (refusal !== undefined) refuse(refusal);
        for (const one of toolCalls) call(one);
      }
      const response = writeResponse(head, result, output);
      send(response['status'] === 'incomplete' ? 'response.incomplete' : 'response.completed', { response });
    },
    fail(error) {
      start();
      send('error', { error });
      const { code, message } = error;
      return eventOf('response.failed', {
        response: { ...begun, status: 'failed', error: { code, message }, output },
      });
    },
  };
}

import { asRecord } from '#plugin-api';
import type { ServerSentEvent } from '../../../kit/server-sent-events.ts';
import { sealReasoning } from '../../../kit/reasoning.ts';
import type { MessagePieces, MessageResult } from './given-message.ts';
import { lastBlocks, thinkingBlock, writeEnding, writeSource, writeUsage, type Block } from './write-message.ts';

type Members = Readonly<Record<string, unknown>>;

export interface MessageEvents extends MessagePieces {
  /** What is left of a message, and its end. */
  end(result: MessageResult): void;
}

export interface Head {
  readonly id: string;
  readonly model: string;
}

/** Writes the events of one message, as Anthropic has them. Those of Claude pass as they come, but for the name of the model. */
export function createMessageEvents(head: Head, push: (event: ServerSentEvent) => void): MessageEvents {
  let hasStarted = false;
  /** Whether the vendor's own events say all. */
  let isNative = false;
  let index = 0;
  let open: 'text' | 'thinking' | null = null;

  const send = (type: string, members: object): void => push({ event: type, data: { type, ...members } });
  const start = (): void => {
    if (hasStarted) return;
    hasStarted = true;
    const usage = { input_tokens: 0, output_tokens: 0 };
    const empty = { type: 'message', role: 'assistant', content: [], stop_reason: null, stop_sequence: null, usage };
    send('message_start', { message: { ...head, ...empty } });
  };
  const sendDelta = (delta: object): void => send('content_block_delta', { index, delta });
  const openBlock = (content_block: object): void => {
    start();
    send('content_block_start', { index, content_block });
  };
  const closeBlock = (): void => {
    send('content_block_stop', { index });
    index += 1;
    open = null;
  };
  const closeOpen = (signature = ''): void => {
    if (open === 'thinking') sendDelta({ type: 'signature_delta', signature });
    if (open !== null) closeBlock();
  };
  const openAs = (type: 'text' | 'thinking'): void => {
    if (open === type) return;
    closeOpen();
    openBlock(type === 'text' ? { type, text: '' } : { type, thinking: '', signature: '' });
    open = type;
  };
  const onText = (text: string): void => {
    if (isNative) return;
    openAs('text');
    sendDelta({ type: 'text_delta', text });
  };
  const writeBlock = (block: Block): void => {
    if (block['type'] === 'text') return onText(String(block['text']));
    closeOpen();
    const { input, ...rest } = block;
    openBlock(input === undefined ? block : { ...rest, input: {} });
    if (input !== undefined) sendDelta({ type: 'input_json_delta', partial_json: input });
    closeBlock();
  };

  return {
    onText,
    onReasoning(piece) {
      if (isNative) return;
      if (piece.text !== '') {
        openAs('thinking');
        sendDelta({ type: 'thinking_delta', thinking: piece.text });
      }
      if (piece.item === undefined) return;
      const isText = piece.format === 'messages' && typeof piece.item['signature'] === 'string';
      const signature = isText ? String(piece.item['signature']) : sealReasoning(piece);
      if (open === 'thinking') closeOpen(signature);
      else for (const block of thinkingBlock({ ...piece, text: '' })) writeBlock(block);
    },
    onEvent(event) {
      isNative = true;
      if (event['type'] !== 'message_start') return push({ event: String(event['type']), data: event });
      hasStarted = true;
      send('message_start', { ...event, message: { ...asRecord(event['message']), model: head.model } });
    },
    end(result) {
      start();
      if (!isNative) {
        const blocks = lastBlocks({ ...result, toolCalls: [] });
        for (const block of blocks) writeBlock(block);
        // The JSON that the model wrote, even if it was cut.
        for (const { id, name, arguments: input } of result.toolCalls ?? [])
          writeBlock({ type: 'tool_use', id, name, input });
        closeOpen();
      }
      const context = (result.native as Members | undefined)?.['context_management'];
      send('message_delta', {
        delta: writeEnding(result),
        usage: writeUsage(result),
        ...(context !== undefined && { context_management: context }),
        svc: writeSource(result),
      });
      send('message_stop', {});
    },
  };
}

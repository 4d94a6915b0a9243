import { objectAt, type JsonObject } from '../json.ts';
import type { ProviderConnection } from '../provider.ts';

/** The blocks of thinking of one stream. Events of other blocks are passed over. */
export interface ThinkingBlocks {
  start(event: JsonObject): void;
  add(event: JsonObject): void;
  stop(event: JsonObject): void;
  /** In their order, as the vendor writes them in a whole message. */
  blocks(): readonly JsonObject[];
  text(): string;
}

/** Passes on pieces of thinking as they arrive, and each block when it is complete. */
export function createThinkingBlocks({ onReasoning }: Pick<ProviderConnection, 'onReasoning'>): ThinkingBlocks {
  const blocks = new Map<unknown, Record<string, unknown>>();
  return {
    start(event) {
      const block = objectAt(event, 'content_block');
      if (block['type'] !== 'thinking' && block['type'] !== 'redacted_thinking') return;
      blocks.set(event['index'], { ...block });
      if (typeof block['thinking'] === 'string' && block['thinking'] !== '') onReasoning?.({ text: block['thinking'] });
    },
    add(event) {
      const block = blocks.get(event['index']);
      if (block === undefined) return;
      const { thinking, signature } = objectAt(event, 'delta');
      if (typeof signature === 'string') block['signature'] = textOf(block['signature']) + signature;
      if (typeof thinking !== 'string' || thinking === '') return;
      block['thinking'] = textOf(block['thinking']) + thinking;
      onReasoning?.({ text: thinking });
    },
    stop(event) {
      const item = blocks.get(event['index']);
      if (item !== undefined) onReasoning?.({ text: '', item, format: 'messages' });
    },
    blocks: () => [...blocks.values()],
    text: () => [...blocks.values()].map(({ thinking }) => textOf(thinking)).join(''),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

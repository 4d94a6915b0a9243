import type { ConversationMessage } from '../../../ai/system-text.ts';
import { dataImage } from '../../../ai/image-types.ts';
import type { MessageImage } from '../../../ai/system-text.ts';
import { invalid, requireObject } from '../../../kit/read-members.ts';
import { isSealedReasoning, openReasoning, type Reasoning } from '../../../kit/reasoning.ts';
import type { ToolCall } from '../../../kit/tools.ts';
import { createOpenCalls, type OpenCalls } from './open-calls.ts';
import { noteMembers, sparedMembers, type Reading } from './reading.ts';

type Members = Readonly<Record<string, unknown>>;

/** The system text, a text or blocks, as messages. */
export function readSystem(given: unknown, reading: Reading): ConversationMessage[] {
  if (given === undefined || given === null) return [];
  return textsOf(given, 'system', reading).map((content) => ({ role: 'system', content }));
}

/**
 * The messages of a request as this service has them: results of tools are messages, and images come before the text. Nothing is
 * fetched. Blocks that it cannot say are noted.
 *
 * @throws RestError 400 that names the message or the block
 */
export function readMessages(given: readonly unknown[], reading: Reading): ConversationMessage[] {
  const calls = createOpenCalls();
  const messages = given.flatMap((message, index) =>
    readMessage(requireObject(message, `messages[${String(index)}]`), `messages[${String(index)}]`, { reading, calls }),
  );
  if (!reading.isNative) calls.end();
  return messages;
}

interface Conversation {
  readonly reading: Reading;
  readonly calls: OpenCalls;
}

function readMessage(message: Members, path: string, conversation: Conversation): ConversationMessage[] {
  const { reading, calls } = conversation;
  const { role, content } = message;
  noteMembers(message, `${path}.`, { read: ['role', 'content'], reading });
  const name = `${path}.content`;
  if (role === 'system') return [{ role, content: textsOf(content, name, reading).join('\n\n') }];
  if (role === 'user') return readUser(blocksOf(content, name), name, conversation);
  if (!reading.isNative) calls.end();
  return [readAssistant(blocksOf(content, name), name, conversation)];
}

/** Blocks of a content; a text is one block. */
function blocksOf(content: unknown, name: string): Members[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) throw invalid(name, 'must be a string or a list of blocks.');
  return content.map((block: unknown, index) => requireObject(block, `${name}[${String(index)}]`));
}

function textsOf(content: unknown, name: string, reading: Reading): string[] {
  return blocksOf(content, name).flatMap((block, index) => {
    const path = `${name}[${String(index)}]`;
    if (block['type'] === 'text') return [readText(block, path, reading)];
    reading.needed.push(`${path}.type`);
    return [];
  });
}

function readText(block: Members, path: string, reading: Reading): string {
  noteMembers(block, `${path}.`, { read: ['type', 'text'], spared: sparedMembers, reading });
  const { text } = block;
  if (typeof text !== 'string') throw invalid(`${path}.text`, 'must be a string.');
  return text;
}

function readUser(blocks: readonly Members[], name: string, conversation: Conversation): ConversationMessage[] {
  const { reading } = conversation;
  const texts: string[] = [];
  const images: MessageImage[] = [];
  const results: ConversationMessage[] = [];
  for (const [index, block] of blocks.entries()) {
    const path = `${name}[${String(index)}]`;
    if (block['type'] === 'text') texts.push(readText(block, path, reading));
    else if (block['type'] === 'image') images.push(...readImage(block, path, reading));
    else if (block['type'] === 'tool_result') results.push(readResult(block, path, { ...conversation, images }));
    else reading.needed.push(`${path}.type`);
  }
  const isSaid = texts.length > 0 || images.length > 0 || results.length === 0;
  return [...results, ...(isSaid ? [{ role: 'user' as const, content: texts.join('\n'), images }] : [])];
}

/** @returns none for a file of the vendor, which is noted */
function readImage(block: Members, path: string, reading: Reading): MessageImage[] {
  noteMembers(block, `${path}.`, { read: ['type', 'source'], spared: sparedMembers, reading });
  const name = `${path}.source`;
  const source = requireObject(block['source'], name);
  const { type, data, media_type: mimeType, url } = source;
  if (type === 'base64' && typeof data === 'string') {
    if (!reading.isNative) return [dataImage(`data:${String(mimeType)};base64,${data}`, `${name}.data`)];
    return [{ mimeType: String(mimeType), base64: data, bytes: new Uint8Array() }];
  }
  if (type === 'url' && typeof url === 'string')
    return [reading.isNative ? { mimeType: '', bytes: new Uint8Array(), url } : reading.images.add(url, `${name}.url`)];
  reading.needed.push(`${name}.type`);
  return [];
}

/** Images of a result come after all results, in the message of the user: no other format has them in results. */
function readResult(
  block: Members,
  path: string,
  { reading, calls, images }: Conversation & { readonly images: MessageImage[] },
): ConversationMessage {
  const read = ['type', 'tool_use_id', 'content', 'is_error'];
  noteMembers(block, `${path}.`, { read, spared: sparedMembers, reading });
  const { tool_use_id: toolCallId, content } = block;
  if (block['is_error'] === true) reading.spared.push('is_error');
  if (typeof toolCallId !== 'string') throw invalid(`${path}.tool_use_id`, 'is missing.');
  if (!reading.isNative) calls.close(toolCallId, `${path}.tool_use_id`);
  const texts: string[] = [];
  const blocks = content === undefined || content === null ? [] : blocksOf(content, `${path}.content`);
  for (const [index, inner] of blocks.entries()) {
    const at = `${path}.content[${String(index)}]`;
    if (inner['type'] === 'text') texts.push(readText(inner, at, reading));
    else if (inner['type'] === 'image') images.push(...readImage(inner, at, reading));
    else reading.needed.push(`${at}.type`);
  }
  return { role: 'tool', content: texts.join('\n'), toolCallId };
}

function readAssistant(
  blocks: readonly Members[],
  name: string,
  { reading, calls }: Conversation,
): ConversationMessage {
  const texts: string[] = [];
  const toolCalls: ToolCall[] = [];
  const reasoning: Reasoning[] = [];
  for (const [index, block] of blocks.entries()) {
    const path = `${name}[${String(index)}]`;
    const { type } = block;
    if (type === 'text') texts.push(readText(block, path, reading));
    else if (type === 'thinking' || type === 'redacted_thinking') reasoning.push(readThinking(block));
    else if (type === 'tool_use') toolCalls.push(readToolUse(block, path, { reading, calls }));
    else reading.needed.push(`${path}.type`);
  }
  return { role: 'assistant', content: texts.join('\n'), toolCalls, reasoning };
}

function readToolUse(block: Members, path: string, { reading, calls }: Conversation): ToolCall {
  const spared = [...sparedMembers, 'caller'];
  noteMembers(block, `${path}.`, { read: ['type', 'id', 'name', 'input'], spared, reading });
  const { id, name, input } = block;
  if (typeof id !== 'string') throw invalid(`${path}.id`, 'is missing.');
  if (typeof name !== 'string') throw invalid(`${path}.name`, 'is missing.');
  if (!reading.isNative) calls.open(id, path);
  return { id, name, arguments: JSON.stringify(input ?? {}) };
}

/** A block of Claude's, or what this service sealed in one (D40). */
function readThinking(block: Members): Reasoning {
  const text = typeof block['thinking'] === 'string' ? block['thinking'] : '';
  const sealed = sealOf(block);
  if (!isSealedReasoning(sealed)) return { text, item: block, format: 'messages' };
  // Without an item it is a text, as servers with Chat Completions return and want it.
  return { text, format: 'chat', ...openReasoning(sealed) };
}

/** Whether a block of thinking is of another vendor, so that Claude would refuse it. */
export function isOfOtherVendor(block: Members): boolean {
  return (block['type'] === 'thinking' || block['type'] === 'redacted_thinking') && isSealedReasoning(sealOf(block));
}

function sealOf(block: Members): unknown {
  return block['type'] === 'thinking' ? block['signature'] : block['data'];
}

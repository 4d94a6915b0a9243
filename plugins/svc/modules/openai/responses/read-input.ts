import { isRecord } from '#plugin-api';
import type { ImageAddresses } from '../../../ai/image-addresses.ts';
import { dataImage } from '../../../ai/image-types.ts';
import type { ConversationMessage, MessageImage } from '../../../ai/system-text.ts';
import { invalid } from '../../../kit/read-members.ts';
import { openReasoning, type Reasoning } from '../../../kit/reasoning.ts';
import type { ToolCall } from '../../../kit/tools.ts';

type Members = Readonly<Record<string, unknown>>;

/** What another format than this one loses of a request: names of its members. */
export interface LostMembers {
  /** Those that a model cannot do without. */
  readonly needed: string[];
  /** Those that do not change the answer. */
  readonly spared: string[];
}

interface InputContext {
  readonly addresses: ImageAddresses;
  readonly lost: LostMembers;
}

/**
 * The items of a request as messages: reasoning, text and calls of one turn are one message. What messages cannot hold is noted, not
 * refused, since a vendor with this format gets the request as it is.
 *
 * @throws RestError 400 for an input that is neither a text nor a list of objects
 */
export function readInput(input: unknown, context: InputContext): ConversationMessage[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  if (!Array.isArray(input)) throw invalid('input', 'must be a string or a list of items.');
  const turns = createTurns();
  for (const [index, item] of (input as unknown[]).entries()) {
    const name = `input[${String(index)}]`;
    if (!isRecord(item)) throw invalid(name, 'must be an object.');
    if (!takeItem(item, turns, { ...context, name })) context.lost.needed.push(name);
  }
  context.lost.needed.push(...turns.unpaired());
  return turns.messages();
}

interface ItemContext extends InputContext {
  readonly name: string;
}

/** @returns false for an item that messages cannot hold */
function takeItem(item: Members, turns: Turns, context: ItemContext): boolean {
  switch (item['type'] ?? 'message') {
    case 'message':
      return takeMessage(item, turns, context);
    case 'reasoning':
      turns.assistant({ reasoning: [reasoningOf(item)] });
      return true;
    case 'function_call': {
      const { call_id: id, name, arguments: given } = item;
      if (typeof id !== 'string' || typeof name !== 'string' || !/^[\w-]{1,64}$/.test(name)) return false;
      const signature = signatureOf(item);
      const call = { id, name, arguments: typeof given === 'string' ? given : '{}', ...(signature && { signature }) };
      turns.call(call, context.name);
      return true;
    }
    case 'function_call_output': {
      const { call_id: id, output } = item;
      const content = typeof output === 'string' ? output : textOfParts(output);
      if (typeof id !== 'string' || content === null) return false;
      turns.result(id, content, context.name);
      return true;
    }
    default:
      return false;
  }
}

const roles: readonly unknown[] = ['user', 'assistant', 'system', 'developer'];

function takeMessage({ role, content }: Members, turns: Turns, context: ItemContext): boolean {
  if (!roles.includes(role)) return false;
  const read = readContent(content, { ...context, name: `${context.name}.content` });
  if (read === null) return false;
  if (role === 'assistant') turns.assistant({ content: read.content });
  else turns.add({ role: role === 'user' ? 'user' : 'system', ...read });
  return true;
}

/** Texts are joined by a line break, images come before them. What is neither is noted. Null for another kind of content. */
function readContent(
  content: unknown,
  { addresses, lost, name }: ItemContext,
): Pick<ConversationMessage, 'content' | 'images'> | null {
  if (typeof content === 'string') return { content };
  if (!Array.isArray(content)) return null;
  const texts: string[] = [];
  const images: MessageImage[] = [];
  for (const [index, part] of (content as unknown[]).entries()) {
    const path = `${name}[${String(index)}]`;
    const text = partText(part);
    const image = text === null ? readImage(part, path, addresses) : null;
    if (text !== null) texts.push(text);
    else if (image !== null) images.push(image);
    else lost.needed.push(path);
  }
  return { content: texts.join('\n'), ...(images.length > 0 && { images }) };
}

function partText(part: unknown): string | null {
  if (!isRecord(part)) return null;
  const { type, text, refusal } = part;
  if (type === 'refusal') return typeof refusal === 'string' ? refusal : null;
  const isText = type === 'input_text' || type === 'output_text' || type === 'text';
  return isText && typeof text === 'string' ? text : null;
}

function textOfParts(parts: unknown): string | null {
  if (!Array.isArray(parts)) return null;
  const texts = parts.map(partText);
  return texts.every((text) => text !== null) ? texts.join('\n') : null;
}

/** Null for an image that no other format takes: one of the vendor's files, or bytes of another kind. */
function readImage(part: unknown, name: string, addresses: ImageAddresses): MessageImage | null {
  if (!isRecord(part) || part['type'] !== 'input_image' || typeof part['image_url'] !== 'string') return null;
  const { image_url: url, detail } = part;
  try {
    const image = /^data:/i.test(url) ? dataImage(url, name) : addresses.add(url, `${name}.image_url`);
    // Not a copy: `bytes` may be a getter.
    return detail === 'low' || detail === 'high' ? Object.assign(image, { detail }) : image;
  } catch {
    return null;
  }
}

/** What this service sealed is opened again; the rest is an item of a vendor with this format. */
function reasoningOf(item: Members): Reasoning {
  const summary = Array.isArray(item['summary']) ? item['summary'] : [];
  const texts = summary.filter(isRecord).map(({ text }) => (typeof text === 'string' ? text : ''));
  const { encrypted_content: sealed } = item;
  return { text: texts.join('\n\n'), ...(openReasoning(sealed) ?? { item, format: 'responses' }) };
}

/** As in the messages of `chat/completions`. */
function signatureOf({ extra_content: extra }: Members): string | undefined {
  const google = isRecord(extra) && isRecord(extra['google']) ? extra['google'] : {};
  const { thought_signature: signature } = google;
  return typeof signature === 'string' ? signature : undefined;
}

interface Turns {
  add(message: ConversationMessage): void;
  /** Continues the message of the assistant before, unless that has calls already. */
  assistant(part: Partial<Pick<ConversationMessage, 'content' | 'reasoning'>>): void;
  call(call: ToolCall, name: string): void;
  result(id: string, content: string, name: string): void;
  /** Names of calls without a result, and of results without a call. */
  unpaired(): readonly string[];
  messages(): ConversationMessage[];
}

function createTurns(): Turns {
  const messages: ConversationMessage[] = [];
  const open = new Map<string, string>();
  const unpaired: string[] = [];
  const last = (): ConversationMessage | null => {
    const message = messages.at(-1);
    return message?.role === 'assistant' ? message : null;
  };
  const continueWith = (changes: Partial<ConversationMessage>, isNew: boolean): void => {
    const before = isNew ? null : last();
    const message = { ...(before ?? { role: 'assistant', content: '' }), ...changes } as ConversationMessage;
    if (before === null) messages.push(message);
    else messages[messages.length - 1] = message;
  };
  return {
    add: (message) => void messages.push(message),
    assistant({ content = '', reasoning = [] }) {
      const before = last();
      const isNew = (before?.toolCalls ?? []).length > 0 || (content !== '' && (before?.content ?? '') !== '');
      const thought = [...(isNew ? [] : (before?.reasoning ?? [])), ...reasoning];
      const text = isNew || content !== '' ? content : (before?.content ?? '');
      continueWith({ content: text, ...(thought.length > 0 && { reasoning: thought }) }, isNew);
    },
    call(call, name) {
      open.set(call.id, name);
      continueWith({ toolCalls: [...(last()?.toolCalls ?? []), call] }, false);
    },
    result(id, content, name) {
      if (!open.delete(id)) unpaired.push(name);
      messages.push({ role: 'tool', content, toolCallId: id });
    },
    unpaired: () => [...unpaired, ...open.values()],
    messages: () => messages,
  };
}

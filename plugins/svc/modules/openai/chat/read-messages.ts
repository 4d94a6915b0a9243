import { asRecord, isRecord } from '#plugin-api';
import type { ConversationMessage } from '../../../ai/system-text.ts';
import type { MessageImage } from '../../../ai/system-text.ts';
import type { ToolCall } from '../../../kit/tools.ts';
import { invalid, onlyMembers, optionalText, requireObject } from '../../../kit/read-members.ts';
import { checkToolResults } from './check-tool-results.ts';
import type { ImageAddresses } from '../../../ai/image-addresses.ts';
import { dataImage } from '../../../ai/image-types.ts';
import { readReasoning, reasoningNames } from './reasoning.ts';
import { functionName } from './read-tools.ts';

type Members = Readonly<Record<string, unknown>>;

/**
 * The messages of a request. Parts of a content are joined: texts by a line break, images before them. Nothing is fetched:
 * images of URLs are empty, and noted in `addresses`.
 *
 * @throws RestError 400 that names the message or the part
 */
export function readMessages(given: readonly unknown[], addresses: ImageAddresses): ConversationMessage[] {
  checkToolResults(given);
  return given.map((message, index) => readMessage(message, `messages[${String(index)}]`, addresses));
}

const members: Readonly<Record<string, readonly string[]>> = {
  user: [],
  system: [],
  developer: [],
  // Responses have `annotations`, and what helpers of clients `parsed`: both repeat what the content says.
  assistant: ['tool_calls', 'refusal', 'annotations', 'parsed', ...reasoningNames],
  tool: ['tool_call_id'],
};

const partMembers: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  refusal: ['refusal'],
  image_url: ['image_url'],
};

/**
 * Messages and their parts without members that no model gets, for a lenient key (D41).
 *
 * @param ignored gets their names
 */
export function withoutUnknownMembers(messages: readonly unknown[], ignored: string[]): unknown[] {
  const pick = (given: unknown, known: readonly string[] | undefined, name: string): unknown => {
    if (!isRecord(given) || known === undefined) return given;
    const entries = Object.entries(given);
    const isKnown = ([member, value]: [string, unknown]): boolean => known.includes(member) || value === null;
    ignored.push(...entries.filter((entry) => !isKnown(entry)).map(([member]) => `${name}.${member}`));
    return Object.fromEntries(entries.filter(isKnown));
  };
  return messages.map((given, index) => {
    const name = `messages[${String(index)}]`;
    const message = pick(given, ['role', 'content', 'name', ...(members[String(asRecord(given)['role'])] ?? [])], name);
    const content = asRecord(message)['content'];
    if (!isRecord(message) || !Array.isArray(content)) return message;
    const parts = content.map((part: unknown, at) =>
      pick(part, ['type', ...(partMembers[String(asRecord(part)['type'])] ?? [])], `${name}.content[${String(at)}]`),
    );
    return { ...message, content: parts };
  });
}

function readMessage(given: unknown, name: string, addresses: ImageAddresses): ConversationMessage {
  const message = requireObject(given, name);
  const role = String(message['role']);
  onlyMembers(message, name, ['role', 'content', 'name', ...(members[role] ?? [])]);
  const path = `${name}.content`;
  const speaker = optionalText(message['name'], `${name}.name`);
  const named = speaker !== undefined && { name: speaker };
  if (role === 'user') return { role, ...named, ...readContent(message['content'], path, addresses) };
  if (role === 'system' || role === 'developer')
    return { role: 'system', ...named, content: textOf(message['content'], path) };
  // The name of a tool is that of the call with its id.
  if (role === 'tool') {
    const toolCallId = optionalText(message['tool_call_id'], `${name}.tool_call_id`);
    if (toolCallId === undefined) throw invalid(`${name}.tool_call_id`, 'is missing.');
    return { role, content: textOf(message['content'], path), toolCallId };
  }
  const toolCalls = readToolCalls(message['tool_calls'], `${name}.tool_calls`);
  const refusal = optionalText(message['refusal'], `${name}.refusal`);
  const isEmpty = message['content'] === undefined || message['content'] === null;
  if (isEmpty && refusal === undefined && toolCalls.length === 0) throw invalid(path, 'is missing.');
  const content = isEmpty ? (refusal ?? '') : textOf(message['content'], path);
  return { role: 'assistant', ...named, content, toolCalls, reasoning: readReasoning(message, name) };
}

/** A text, or the texts of parts. */
function textOf(content: unknown, name: string): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw invalid(name, 'must be a string or a list of parts.');
  return content.map((part: unknown, index) => partText(part, `${name}[${String(index)}]`)).join('\n');
}

function partText(given: unknown, name: string): string {
  const part = requireObject(given, name);
  const member = part['type'] === 'refusal' ? 'refusal' : 'text';
  const text = part[member];
  if (part['type'] !== member || typeof text !== 'string') throw invalid(`${name}.type`, 'must be text.');
  onlyMembers(part, name, ['type', member]);
  return text;
}

function readContent(
  content: unknown,
  name: string,
  addresses: ImageAddresses,
): Pick<ConversationMessage, 'content' | 'images'> {
  if (typeof content === 'string') return { content };
  if (!Array.isArray(content)) throw invalid(name, 'must be a string or a list of parts.');
  const texts: string[] = [];
  const images: MessageImage[] = [];
  for (const [index, part] of (content as unknown[]).entries()) {
    const path = `${name}[${String(index)}]`;
    const type = isRecord(part) ? part['type'] : undefined;
    if (type === 'image_url') images.push(readImage(requireObject(part, path), path, addresses));
    else if (type === 'text') texts.push(partText(part, path));
    else throw invalid(`${path}.type`, 'must be text or image_url.');
  }
  return { content: texts.join('\n'), images };
}

function readImage(part: Members, name: string, addresses: ImageAddresses): MessageImage {
  onlyMembers(part, name, ['type', 'image_url']);
  const path = `${name}.image_url`;
  const given = requireObject(part['image_url'], path);
  onlyMembers(given, path, ['url', 'detail']);
  const { url, detail } = given;
  if (typeof url !== 'string') throw invalid(`${path}.url`, 'is missing.');
  if (detail !== undefined && detail !== null && detail !== 'auto' && detail !== 'low' && detail !== 'high')
    throw invalid(`${path}.detail`, 'must be auto, low or high.');
  const image = /^data:/i.test(url) ? dataImage(url, `${path}.url`) : addresses.add(url, `${path}.url`);
  // Not a copy: `bytes` may be a getter.
  return detail === 'low' || detail === 'high' ? Object.assign(image, { detail }) : image;
}

function readToolCalls(given: unknown, name: string): ToolCall[] {
  if (given === undefined || given === null) return [];
  if (!Array.isArray(given)) throw invalid(name, 'must be a list.');
  return given.map((entry: unknown, index) => {
    const path = `${name}[${String(index)}]`;
    const call = requireObject(entry, path);
    if (call['type'] !== 'function' && call['type'] !== undefined) throw invalid(`${path}.type`, 'must be function.');
    // Clients that collected a stream, or parsed the arguments, send these copies back.
    onlyMembers(call, path, ['id', 'type', 'function', 'extra_content', 'index']);
    const called = requireObject(call['function'], `${path}.function`);
    onlyMembers(called, `${path}.function`, ['name', 'arguments', 'parsed_arguments']);
    const id = optionalText(call['id'], `${path}.id`);
    if (id === undefined) throw invalid(`${path}.id`, 'is missing.');
    const signature = signatureOf(call['extra_content']);
    return {
      id,
      name: functionName(called['name'], `${path}.function.name`),
      arguments: optionalText(called['arguments'], `${path}.function.arguments`) ?? '{}',
      ...(signature !== undefined && { signature }),
    };
  });
}

/** Where Google's own OpenAI-compatible API has it. */
function signatureOf(extra: unknown): string | undefined {
  const google = isRecord(extra) ? extra['google'] : undefined;
  const signature = isRecord(google) ? google['thought_signature'] : undefined;
  return typeof signature === 'string' ? signature : undefined;
}

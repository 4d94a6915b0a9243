import { isRecord, type HttpApi } from '#plugin-api';
import { imageExtension } from '../../../ai/image-bytes.ts';
import type { ConversationMessage } from '../../../ai/system-text.ts';
import type { ToolCall } from '../../../kit/tools.ts';
import { invalid, onlyMembers, optionalText, requireObject } from '../read-params.ts';
import { checkToolResults } from './check-tool-results.ts';
import { functionName } from './read-tools.ts';

interface ReadInit {
  readonly http: Pick<HttpApi, 'fetch'>;
  readonly signal: AbortSignal;
}

type Members = Readonly<Record<string, unknown>>;

/**
 * The messages of a request. Parts of a content are joined: texts by a line break, images before them. Images of URLs are
 * fetched, from public addresses only.
 *
 * @throws RestError 400 that names the message or the part
 */
export async function readMessages(given: readonly unknown[], init: ReadInit): Promise<ConversationMessage[]> {
  checkToolResults(given);
  return Promise.all(given.map((message, index) => readMessage(message, `messages[${String(index)}]`, init)));
}

const members: Readonly<Record<string, readonly string[]>> = {
  user: [],
  system: [],
  developer: [],
  // Responses have `annotations`, and what helpers of clients `parsed`: both repeat what the content says.
  assistant: ['tool_calls', 'refusal', 'annotations', 'parsed'],
  tool: ['tool_call_id'],
};

async function readMessage(given: unknown, name: string, init: ReadInit): Promise<ConversationMessage> {
  const message = requireObject(given, name);
  const role = String(message['role']);
  onlyMembers(message, name, ['role', 'content', 'name', ...(members[role] ?? [])]);
  const path = `${name}.content`;
  const speaker = optionalText(message['name'], `${name}.name`);
  const named = speaker !== undefined && { name: speaker };
  if (role === 'user') return { role, ...named, ...(await readContent(message['content'], path, init)) };
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
  return { role: 'assistant', ...named, content, toolCalls };
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

type ReadImage = NonNullable<ConversationMessage['images']>[number];

async function readContent(
  content: unknown,
  name: string,
  init: ReadInit,
): Promise<Pick<ConversationMessage, 'content' | 'images'>> {
  if (typeof content === 'string') return { content };
  if (!Array.isArray(content)) throw invalid(name, 'must be a string or a list of parts.');
  const texts: string[] = [];
  const images: Promise<ReadImage>[] = [];
  for (const [index, part] of (content as unknown[]).entries()) {
    const path = `${name}[${String(index)}]`;
    const type = isRecord(part) ? part['type'] : undefined;
    if (type === 'image_url') images.push(readImage(requireObject(part, path), path, init));
    else if (type === 'text') texts.push(partText(part, path));
    else throw invalid(`${path}.type`, 'must be text or image_url.');
  }
  return { content: texts.join('\n'), images: await Promise.all(images) };
}

/** Bytes of an image behind a URL; a request holds no more. */
const largestImage = 20 * 1_048_576;

/** What models read. */
const imageTypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};

async function readImage(part: Members, name: string, init: ReadInit): Promise<ReadImage> {
  onlyMembers(part, name, ['type', 'image_url']);
  const path = `${name}.image_url`;
  const image = requireObject(part['image_url'], path);
  onlyMembers(image, path, ['url', 'detail']);
  const { url, detail } = image;
  if (typeof url !== 'string') throw invalid(`${path}.url`, 'is missing.');
  if (detail !== undefined && detail !== null && detail !== 'auto' && detail !== 'low' && detail !== 'high')
    throw invalid(`${path}.detail`, 'must be auto, low or high.');
  const bytes = /^data:/i.test(url) ? decodeData(url) : await fetchBytes(url, `${path}.url`, init);
  const mimeType = imageTypes[imageExtension(bytes) ?? ''];
  if (mimeType === undefined) throw invalid(`${path}.url`, 'must be a PNG, JPEG, GIF or WebP image.');
  return { bytes, mimeType, ...((detail === 'low' || detail === 'high') && { detail }) };
}

function decodeData(url: string): Uint8Array {
  const comma = url.indexOf(',');
  return Buffer.from(/;base64$/i.test(url.slice(0, comma)) ? url.slice(comma + 1) : '', 'base64');
}

async function fetchBytes(url: string, name: string, { http, signal }: ReadInit): Promise<Uint8Array> {
  if (!/^https?:\/\//i.test(url)) throw invalid(name, 'must be a data: or http(s): URL.');
  try {
    const response = await http.fetch(url, { headers: { accept: 'image/*' }, maxBytes: largestImage, signal });
    if (response.status === 200) return response.body;
    throw invalid(name, `could not be fetched: the server returned ${String(response.status)}.`);
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown; readonly message: string };
    if (typeof code === 'string' && code.startsWith('outbound_'))
      throw invalid(name, `could not be fetched: ${message}`);
    throw error;
  }
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

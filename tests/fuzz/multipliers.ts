import type { FuzzRequest } from './requests.ts';

/** What one request may multiply, as listed in `host/README.md` under "How much work one request may cause". */
export interface Multiplier {
  readonly name: string;
  /** The largest number that is accepted. */
  readonly most: number;
  make(count: number): FuzzRequest;
  /** Text of the response to more than that. */
  readonly refusal: RegExp;
}

export const restKey = 'the REST key of the fuzz of work';

const megabyte = 1_048_576;
const keyed = { authorization: `Bearer ${restKey}` };
const json = { 'content-type': 'application/json' };
const formType = { 'content-type': 'application/x-www-form-urlencoded' };

const post = (path: string, body: string, headers: FuzzRequest['headers'] = { ...keyed, ...json }): FuzzRequest => ({
  method: 'POST',
  path,
  headers,
  body,
});
const postJson = (path: string, body: unknown): FuzzRequest => post(path, JSON.stringify(body));
const repeat = <Item>(count: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => make(index));

const text = { provider: 'openai', model: 'gpt-4o-mini' };
const say = (content: unknown) => [{ role: 'user', content }];
const generate = (members: object): FuzzRequest =>
  postJson('/svc/v1/generate', { ...text, messages: say('Hello'), ...members });
const chat = (content: unknown): FuzzRequest =>
  postJson('/svc-openai/v1/chat/completions', { model: 'openai/gpt-4.1', messages: say(content) });
/** A body of so many bytes. */
const padded = (count: number, before: string, after = ''): string =>
  before + 'a'.repeat(Math.max(0, count - before.length - after.length)) + after;

const tooLarge = /"code":"rest_body_too_large"/;
const values = /The body has more than 100,000 values/;

/** @param form id of an AI form */
export function listMultipliers(form: string): readonly Multiplier[] {
  const submit = `/svc-widget/v1/forms/${form}/submit`;
  const multipart = { 'content-type': 'multipart/form-data; boundary=x' };
  return [
    {
      name: 'members of a JSON object',
      most: 997,
      make: (count) => generate(Object.fromEntries(repeat(count, (index) => [`k${String(index)}`, 1]))),
      refusal: /more than 1,000 members/,
    },
    { name: 'elements', most: 99_993, make: (count) => generate({ x: repeat(count, () => 1) }), refusal: values },
    {
      name: 'empty objects',
      most: 49_996,
      make: (count) => generate({ x: repeat(count, () => ({})) }),
      refusal: values,
    },
    {
      name: 'levels',
      most: 511,
      make: (count) => post('/svc/v1/generate', `{"provider":"openai","x":${'['.repeat(count)}${']'.repeat(count)}}`),
      refusal: /Maximum stack depth exceeded/,
    },
    {
      name: 'messages',
      most: 33_332,
      make: (count) => generate({ messages: repeat(count, () => ({ role: 'user', content: 'a' })) }),
      refusal: values,
    },
    {
      name: 'bytes of a text without breaks',
      most: megabyte,
      make: (count) =>
        post(
          '/svc/v1/generate',
          padded(count, '{"provider":"openai","model":"gpt-4o-mini","messages":[{"role":"user","content":"', '"}]}'),
        ),
      refusal: tooLarge,
    },
    {
      name: 'bytes of an image inside',
      most: 32 * megabyte,
      make: (count) =>
        post(
          '/svc-openai/v1/chat/completions',
          padded(
            count,
            '{"model":"openai/gpt-4.1","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgoA',
            '"}}]}]}',
          ),
        ),
      refusal: tooLarge,
    },
    {
      name: 'images by address',
      most: 20,
      make: (count) =>
        chat(repeat(count, (at) => ({ type: 'image_url', image_url: { url: `http://127.0.0.1:9/${String(at)}` } }))),
      refusal: /one address too many/,
    },
    {
      name: 'variables of a form',
      most: 1_000,
      make: (count) =>
        post('/svc/v1/generate', repeat(count, (at) => `a${String(at)}=1`).join('&'), { ...keyed, ...formType }),
      refusal: /more than 1000 parameters/,
    },
    {
      name: 'brackets of a name in a form',
      most: 1_999,
      make: (count) => post('/svc/v1/generate', `a${'['.repeat(count)}`, { ...keyed, ...formType }),
      refusal: /more than 2,000 characters/,
    },
    {
      name: 'escapes in a form',
      most: megabyte - 2,
      make: (count) => post('/svc/v1/generate', `a=${'%'.repeat(count)}`, { ...keyed, ...formType }),
      refusal: tooLarge,
    },
    {
      name: 'spaces in a form',
      most: megabyte - 2,
      make: (count) => post('/svc/v1/generate', `a=${'+'.repeat(count)}`, { ...keyed, ...formType }),
      refusal: tooLarge,
    },
    {
      name: 'bytes of a submission without files',
      most: 262_144,
      make: (count) => post(submit, padded(count, '{"a":"', '"}'), json),
      refusal: tooLarge,
    },
    {
      name: 'bytes of a submission with files',
      most: 13 * megabyte,
      make: (count) => post(submit, padded(count, '--x\r\n'), multipart),
      refusal: tooLarge,
    },
    {
      name: 'requests of a batch',
      most: 25,
      make: (count) => postJson('/batch/v1', { requests: repeat(count, () => ({ path: '/wp/v2/posts', body: {} })) }),
      refusal: /at most 25 items/,
    },
    {
      name: 'messages to the MCP server',
      most: 1,
      make(count) {
        const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
        return postJson('/mcp/v1', count < 2 ? message : repeat(count, () => message));
      },
      refusal: /Batches are not supported|more than 100,000 values|rest_body_too_large/,
    },
    {
      name: 'texts to embed',
      most: 2_048,
      make: (count) =>
        postJson('/svc/v1/embeddings', {
          ...{ provider: 'openai', model: 'text-embedding-3-small' },
          input: repeat(count, (at) => `text ${String(at)}`),
        }),
      refusal: /at most 2,?048 items/,
    },
    {
      name: 'vectors of an upsert',
      most: 1_000,
      make: (count) =>
        postJson('/svc/v1/vector-stores/upsert', {
          ...{ provider: 'qdrant', target_id: 'none', embedding_provider: 'openai' },
          embedding_model: 'text-embedding-3-small',
          vectors: repeat(count, (at) => ({ content: `text ${String(at)}` })),
        }),
      refusal: /at most 1,?000 items/,
    },
  ];
}

import type { Counted, Finish, Vendor, VendorEvent, VendorText } from './vendors.ts';

const usageOf = (counted: Counted | null) =>
  counted && {
    input_tokens: counted.input,
    input_tokens_details: { cached_tokens: counted.cached },
    output_tokens: counted.output,
    output_tokens_details: { reasoning_tokens: counted.reasoning },
    total_tokens: counted.input + counted.output,
  };

const endings: Readonly<Record<Finish, object>> = {
  stop: { status: 'completed' },
  refusal: { status: 'completed' },
  length: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
  content_filter: { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
  odd: { status: 'failed', error: { code: 'server_error', message: 'The server had an error' } },
};

function responseOf({ model, pieces, finish, counted }: VendorText): object {
  const text = { type: 'output_text', annotations: [], text: pieces.join('') };
  const refusal = { type: 'refusal', refusal: 'I cannot help with that.' };
  const content = [...(pieces.length > 0 ? [text] : []), ...(finish === 'refusal' ? [refusal] : [])];
  return {
    id: 'resp_1',
    object: 'response',
    model,
    error: null,
    incomplete_details: null,
    output: content.length === 0 ? [] : [{ id: 'msg_1', type: 'message', role: 'assistant', content }],
    usage: usageOf(counted),
    ...endings[finish],
  };
}

const event = (type: string, members: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;

/** A vendor with OpenAI's Responses API. The usage is in the last event alone, also of a response that failed. */
export function responsesVendor({
  path,
  ...vendor
}: Pick<Vendor, 'id' | 'model' | 'prices'> & { readonly path: string }): Vendor {
  return {
    kinds: ['cached', 'reasoning'],
    ...vendor,
    settings: (origin) => ({ api_key: 'test-key-0123456789', base_url: `${origin}${path}`, api: 'responses' }),
    errorEvent: event('error', { code: 'server_error', message: 'The server had an error', param: null }),
    whole: responseOf,
    stream(text) {
      const { model, pieces, finish, counted } = text;
      const begun = { id: 'resp_1', object: 'response', model, status: 'in_progress', output: [], usage: null };
      const at = { item_id: 'msg_1', output_index: 0, content_index: 0 };
      const refusal: VendorEvent = {
        data: event('response.refusal.delta', { ...at, delta: 'I cannot help with that.' }),
        isWritten: true,
      };
      const { status } = endings[finish] as { readonly status: string };
      return [
        { data: event('response.created', { response: begun }) },
        { data: event('response.in_progress', { response: begun }) },
        ...pieces.map((piece) => ({
          data: event('response.output_text.delta', { ...at, delta: piece }),
          text: piece,
        })),
        ...(finish === 'refusal' ? [refusal] : []),
        {
          data: event(`response.${status}`, { response: responseOf(text) }),
          ...(counted && { reported: counted }),
        },
      ];
    },
  };
}

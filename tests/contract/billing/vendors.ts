import { responsesVendor } from './responses-vendor.ts';

/** What a vendor counts of one response. `input` includes what came from and went to its cache, `output` reasoning. */
export interface Counted {
  readonly input: number;
  readonly cached: number;
  readonly written: number;
  readonly output: number;
  readonly reasoning: number;
  /** Billionths of a dollar, of a vendor that reports what it bills. */
  readonly cost?: number;
}

/** How a text ends by itself. */
export type Finish = 'stop' | 'length' | 'content_filter' | 'refusal' | 'odd';

export interface VendorText {
  readonly model: string;
  readonly pieces: readonly string[];
  readonly finish: Finish;
  /** Null: the vendor reports nothing. */
  readonly counted: Counted | null;
}

/** One event of a stream. */
export interface VendorEvent {
  readonly data: string;
  /** The piece of text in it. */
  readonly text?: string;
  /** Whether it has something else that the model wrote. */
  readonly isWritten?: boolean;
  /** All that was reported of the usage up to here. */
  readonly reported?: Counted;
  /** Whether the output so far is more than what was reported. */
  readonly isPartial?: boolean;
}

/** A vendor's list price in US dollars per million tokens. */
export interface ListPrice {
  readonly input: number;
  readonly output: number;
  readonly cached_input?: number;
  readonly cache_write?: number;
  readonly reasoning?: number;
}

export interface Vendor {
  readonly id: string;
  readonly model: string;
  /** Of the texts of this vendor, in the site's settings. */
  settings(origin: string): Readonly<Record<string, string>>;
  readonly prices: ListPrice;
  /** The price of requests with at least so many input tokens. */
  readonly longPrices?: ListPrice & { readonly from: number };
  /** The kinds of tokens that it reports. */
  readonly kinds: readonly ('cached' | 'written' | 'reasoning')[];
  readonly reportsCost?: boolean;
  /** Whether texts may be held back until they end: a caller does not see how far they are. */
  readonly isHeldBack?: boolean;
  whole(text: VendorText): object;
  stream(text: VendorText): readonly VendorEvent[];
  /** An error in a stream that began well. */
  readonly errorEvent: string;
}

const line = (data: object | string): string => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;

/** The usage of a text that has come to a part of its output. */
function countedUpTo(counted: Counted, part: number): Counted {
  return { ...counted, output: Math.ceil(counted.output * part), reasoning: Math.floor(counted.reasoning * part) };
}

type ChatUsage = (counted: Counted) => object;

interface ChatVendor
  extends Pick<Vendor, 'id' | 'model' | 'prices' | 'reportsCost' | 'isHeldBack'>, Partial<Pick<Vendor, 'kinds'>> {
  readonly path: string;
  readonly usage: ChatUsage;
  /** `last`: in an event of its own after the text; `end`: with the finish reason; `each`: grows with each event. */
  readonly reports: 'last' | 'end' | 'each';
  /** Events before the text. */
  readonly first?: readonly string[];
  readonly odd: string;
}

const totals = ({ input, output }: Counted) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
});

const withDetails: ChatUsage = (counted) => ({
  ...totals(counted),
  prompt_tokens_details: { cached_tokens: counted.cached, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: counted.reasoning, audio_tokens: 0 },
});

/** A vendor with OpenAI's Chat Completions. */
function chatVendor({ path, usage, reports, first = [], odd, ...vendor }: ChatVendor): Vendor {
  const reasons: Readonly<Record<Finish, string>> = {
    ...{ stop: 'stop', length: 'length', content_filter: 'content_filter', refusal: 'stop' },
    odd,
  };
  const messageOf = ({ pieces, finish }: VendorText) =>
    finish === 'refusal' ? { content: null, refusal: 'I cannot help with that.' } : { content: pieces.join('') };
  return {
    kinds: ['cached', 'reasoning'],
    ...vendor,
    settings: (origin) => ({ api_key: 'test-key-0123456789', base_url: `${origin}${path}` }),
    errorEvent: line({ error: { message: 'The server had an error', code: 502 }, choices: [] }),
    whole: (text) => ({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      model: text.model,
      choices: [{ index: 0, message: { role: 'assistant', ...messageOf(text) }, finish_reason: reasons[text.finish] }],
      ...(text.counted && { usage: usage(text.counted) }),
    }),
    stream({ model, pieces, finish, counted }) {
      const chunk = (choices: readonly object[], reported?: Counted): string =>
        line({
          id: 'chatcmpl-1',
          object: 'chat.completion.chunk',
          model,
          choices,
          ...(reported && { usage: usage(reported) }),
        });
      const choice = (delta: object, finish_reason: string | null = null) => [{ index: 0, delta, finish_reason }];
      const events: VendorEvent[] = [
        ...first.map((data) => ({ data })),
        { data: chunk(choice({ role: 'assistant', content: '' })) },
      ];
      for (const [index, piece] of pieces.entries()) {
        const reported = counted && reports === 'each' ? countedUpTo(counted, (index + 1) / pieces.length) : undefined;
        events.push({ data: chunk(choice({ content: piece }), reported), text: piece, ...(reported && { reported }) });
      }
      if (finish === 'refusal')
        events.push({ data: chunk(choice({ refusal: 'I cannot help with that.' })), isWritten: true });
      const atEnd = counted && reports !== 'last' ? { reported: counted } : {};
      events.push({ data: chunk(choice({}, reasons[finish]), atEnd.reported), ...atEnd });
      if (counted && reports === 'last') events.push({ data: chunk([], counted), reported: counted });
      return [...events, { data: line('[DONE]') }];
    },
  };
}

const claude: Vendor = {
  id: 'claude',
  model: 'claude-sonnet-4-5',
  settings: (origin) => ({ api_key: 'test-key-0123456789', base_url: `${origin}/claude` }),
  prices: { input: 3, output: 15, cached_input: 0.3, cache_write: 3.75 },
  kinds: ['cached', 'written'],
  errorEvent: 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
  whole: ({ model, pieces, finish, counted }) => ({
    ...claudeMessage(model),
    content: pieces.length === 0 ? [] : [{ type: 'text', text: pieces.join('') }],
    stop_reason: claudeReasons[finish],
    ...(counted && { usage: claudeUsage(counted) }),
  }),
  stream({ model, pieces, finish, counted }) {
    const event = (type: string, members: object): string => `event: ${type}\n${line({ type, ...members })}`;
    const begun = counted && { ...counted, output: 1, reasoning: 0 };
    const so = (isPartial: boolean): Partial<VendorEvent> => (begun ? { reported: begun, isPartial } : {});
    return [
      {
        data: event('message_start', {
          message: { ...claudeMessage(model), content: [], ...(begun && { usage: claudeUsage(begun) }) },
        }),
        ...so(false),
      },
      { data: event('ping', {}), ...so(false) },
      { data: event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }), ...so(false) },
      ...pieces.map((text) => ({
        data: event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
        text,
        ...so(true),
      })),
      { data: event('content_block_stop', { index: 0 }), ...so(pieces.length > 0) },
      {
        data: event('message_delta', {
          delta: { stop_reason: claudeReasons[finish], stop_sequence: null },
          ...(counted && { usage: { output_tokens: counted.output } }),
        }),
        ...(counted && { reported: counted }),
      },
      { data: event('message_stop', {}) },
    ];
  },
};

const claudeReasons: Readonly<Record<Finish, string>> = {
  ...{ stop: 'end_turn', length: 'max_tokens', content_filter: 'refusal', refusal: 'refusal', odd: 'pause_turn' },
};

const claudeMessage = (model: string) => ({ id: 'msg_1', type: 'message', role: 'assistant', model });

const claudeUsage = ({ input, cached, written, output }: Counted) => ({
  input_tokens: input - cached - written,
  cache_creation_input_tokens: written,
  cache_read_input_tokens: cached,
  output_tokens: output,
});

const googleReasons: Readonly<Record<Finish, string>> = {
  ...{ stop: 'STOP', length: 'MAX_TOKENS', content_filter: 'SAFETY', odd: 'MALFORMED_FUNCTION_CALL', refusal: '' },
};

const googleUsage = ({ input, cached, output, reasoning }: Counted) => ({
  usageMetadata: {
    promptTokenCount: input,
    cachedContentTokenCount: cached,
    candidatesTokenCount: output - reasoning,
    thoughtsTokenCount: reasoning,
    totalTokenCount: input + output,
  },
});

const blocked = { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } };

const google: Vendor = {
  id: 'google',
  model: 'gemini-2.5-flash',
  settings: (origin) => ({ api_key: 'test-key-0123456789', base_url: `${origin}/google` }),
  kinds: ['cached', 'reasoning'],
  prices: { input: 1.25, output: 10, cached_input: 0.125 },
  longPrices: { from: 20_000, input: 2.5, output: 15, cached_input: 0.25 },
  errorEvent: line({ error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } }),
  whole: ({ model, pieces, finish, counted }) => ({
    modelVersion: model,
    ...(finish === 'refusal'
      ? blocked
      : {
          candidates: [
            {
              index: 0,
              finishReason: googleReasons[finish],
              ...(pieces.length > 0 && { content: { role: 'model', parts: [{ text: pieces.join('') }] } }),
            },
          ],
        }),
    ...(counted && googleUsage(counted)),
  }),
  stream({ model, pieces, finish, counted }) {
    const piece = (members: object, reported: Counted | null): VendorEvent => ({
      data: line({ ...members, modelVersion: model, ...(reported && googleUsage(reported)) }).replace(
        '\n\n',
        '\r\n\r\n',
      ),
      ...(reported && { reported }),
    });
    const candidate = (parts: readonly object[], finishReason?: string) => ({
      candidates: [
        { index: 0, content: { role: 'model', parts }, ...(finishReason !== undefined && { finishReason }) },
      ],
    });
    return [
      ...pieces.map((text, index) => ({
        ...piece(candidate([{ text }]), counted && countedUpTo(counted, (index + 1) / pieces.length)),
        text,
      })),
      finish === 'refusal' ? piece(blocked, counted) : piece(candidate([], googleReasons[finish]), counted),
    ];
  },
};

/** All eight, each with the usage as its own documentation shows it; OpenAI over both of its interfaces. */
export const vendors: readonly Vendor[] = [
  chatVendor({
    ...{ id: 'openai', path: '/openai/v1', model: 'gpt-4.1', reports: 'last', odd: 'error', usage: withDetails },
    prices: { input: 2, output: 8, cached_input: 0.5 },
  }),
  chatVendor({
    ...{ id: 'azure', path: '/azure', model: 'gpt-4.1', reports: 'last', odd: 'error', usage: withDetails },
    first: [line({ model: '', choices: [], prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }] })],
    prices: { input: 2.2, output: 8.8 },
  }),
  responsesVendor({
    ...{ id: 'openai', path: '/openai/v1', model: 'gpt-4.1-mini' },
    prices: { input: 2, output: 8, cached_input: 0.5 },
  }),
  google,
  chatVendor({
    ...{ id: 'openrouter', path: '/openrouter/v1', model: 'openai/gpt-4.1', reports: 'last', odd: 'error' },
    first: [': OPENROUTER PROCESSING\n\n'],
    usage: (counted) => ({ ...withDetails(counted), cost: (counted.cost ?? 0) / 1e9, is_byok: false }),
    reportsCost: true,
    prices: { input: 1, output: 1 },
  }),
  claude,
  chatVendor({
    ...{
      id: 'deepseek',
      path: '/deepseek/v1',
      model: 'deepseek-chat',
      reports: 'end',
      odd: 'insufficient_system_resource',
    },
    usage: (counted) => ({
      ...totals(counted),
      prompt_cache_hit_tokens: counted.cached,
      prompt_cache_miss_tokens: counted.input - counted.cached,
      completion_tokens_details: { reasoning_tokens: counted.reasoning },
    }),
    prices: { input: 0.28, output: 0.42, cached_input: 0.028 },
  }),
  chatVendor({
    ...{ id: 'xai', path: '/xai/v1', model: 'grok-3', reports: 'each', odd: 'error' },
    usage: (counted) => ({ ...withDetails(counted), completion_tokens: counted.output - counted.reasoning }),
    prices: { input: 3, output: 15, cached_input: 0.75, reasoning: 15.5 },
  }),
  chatVendor({
    ...{ id: 'ollama', path: '/ollama/v1', model: 'llama3.2', reports: 'last', odd: 'error', usage: totals },
    kinds: [],
    isHeldBack: true,
    prices: { input: 0.01, output: 0.02 },
  }),
];

import { createParser } from 'eventsource-parser';
import { parsed, type Call, type Said, type SaidUsage } from './exchange.ts';

/* What the doors of the product answer, in three formats, whole and streamed. Members are read as clients read them. */

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are compared, not typed.
type Json = any;

export interface Format {
  readonly name: string;
  /** Path below the REST root. */
  readonly path: string;
  readWhole(body: Json): Said;
  readStream(events: readonly Json[]): Said;
  /** A short request that offers the named tools. */
  request(model: string, tools: readonly string[]): Readonly<Record<string, unknown>>;
}

const question = 'What do you say?';
const anything = { type: 'object', properties: {} };

export const chatFormat: Format = {
  name: 'Chat Completions',
  path: 'svc-openai/v1/chat/completions',
  readWhole: (body) => chatSaid(body.choices?.[0]?.message ?? {}, body.choices?.[0]?.finish_reason ?? null, body.usage),
  readStream(events) {
    const message: Json = { content: '', refusal: '', reasoning_content: '', tool_calls: [], annotations: [] };
    let finish: string | null = null;
    let usage: Json = null;
    for (const { choices: [choice] = [], usage: counted } of events) {
      usage = counted ?? usage;
      finish = choice?.finish_reason ?? finish;
      const delta = choice?.delta ?? {};
      for (const name of ['content', 'refusal']) message[name] += delta[name] ?? '';
      message.reasoning_content += delta.reasoning_content ?? delta.reasoning ?? '';
      message.annotations.push(...(delta.annotations ?? []));
      for (const part of delta.tool_calls ?? []) {
        const call = (message.tool_calls[part.index] ??= { id: undefined, function: { name: '', arguments: '' } });
        call.id ??= part.id;
        call.function.name += part.function?.name ?? '';
        call.function.arguments += part.function?.arguments ?? '';
      }
    }
    return chatSaid(message, finish, usage);
  },
  request: (model, tools) => ({
    model,
    messages: [{ role: 'user', content: question }],
    ...(tools.length > 0 && {
      tools: tools.map((name) => ({ type: 'function', function: { name, parameters: anything } })),
    }),
  }),
};

function chatSaid(message: Json, finish: string | null, usage: Json): Said {
  return {
    text: message.content ?? '',
    refusal: message.refusal ?? '',
    reasoning: message.reasoning_content ?? message.reasoning ?? '',
    notes: message.annotations?.length ?? 0,
    calls: (message.tool_calls ?? []).map((call: Json): Call => ({
      id: call.id,
      name: call.function.name,
      args: parsed(call.function.arguments),
    })),
    finish,
    usage: usage
      ? {
          in: usage.prompt_tokens,
          out: usage.completion_tokens,
          cached: usage.prompt_tokens_details?.cached_tokens ?? 0,
          reasoning: usage.completion_tokens_details?.reasoning_tokens ?? 0,
        }
      : null,
  };
}

export const responsesFormat: Format = {
  name: 'Responses',
  path: 'svc-openai/v1/responses',
  readWhole(body) {
    const output: Json[] = body.output ?? [];
    const parts = output.filter(({ type }) => type === 'message').flatMap(({ content }) => content);
    const calls = output
      .filter(({ type }) => type === 'function_call')
      .map(({ call_id: id, name, arguments: args }): Call => ({ id, name, args: parsed(args) }));
    const reason = body.incomplete_details?.reason;
    return {
      text: parts.map(({ text = '' }: Json) => text).join(''),
      refusal: parts.map(({ refusal = '' }: Json) => refusal).join(''),
      calls,
      finish: reason === 'max_output_tokens' ? 'length' : (reason ?? (calls.length > 0 ? 'tool_calls' : 'stop')),
      usage: body.usage
        ? {
            in: body.usage.input_tokens,
            out: body.usage.output_tokens,
            cached: body.usage.input_tokens_details?.cached_tokens ?? 0,
            reasoning: body.usage.output_tokens_details?.reasoning_tokens ?? 0,
          }
        : null,
    };
  },
  readStream: (events) =>
    responsesFormat.readWhole(
      events.findLast(({ type }) => /^response\.(?:completed|incomplete|failed)$/.test(type))?.response ?? {},
    ),
  request: (model, tools) => ({
    model,
    input: question,
    ...(tools.length > 0 && { tools: tools.map((name) => ({ type: 'function', name, parameters: anything })) }),
  }),
};

const messagesFinish: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  max_tokens: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
};

export const messagesFormat: Format = {
  name: 'Messages',
  path: 'svc-anthropic/v1/messages',
  readWhole: (body) => messagesSaid(body.content ?? [], body.stop_reason ?? null, body.usage),
  readStream(events) {
    const blocks: Json[] = [];
    let reason: string | null = null;
    let usage: Json = null;
    for (const event of events) {
      if (event.type === 'message_start') usage = event.message.usage;
      if (event.type === 'content_block_start') blocks[event.index] = { ...event.content_block, json: '' };
      if (event.type === 'content_block_delta') {
        const block = blocks[event.index];
        if (event.delta.text !== undefined) block.text = `${block.text ?? ''}${event.delta.text}`;
        if (event.delta.thinking !== undefined) block.thinking = `${block.thinking ?? ''}${event.delta.thinking}`;
        if (event.delta.partial_json !== undefined) block.json += event.delta.partial_json;
      }
      if (event.type === 'message_delta') {
        reason = event.delta.stop_reason ?? reason;
        usage = { ...usage, ...event.usage };
      }
    }
    const content = blocks.map((block) => (block.json === '' ? block : { ...block, input: parsed(block.json) }));
    return messagesSaid(content, reason, usage);
  },
  request: (model, tools) => ({
    model,
    max_tokens: 1_000,
    messages: [{ role: 'user', content: question }],
    ...(tools.length > 0 && { tools: tools.map((name) => ({ name, input_schema: anything })) }),
  }),
};

function messagesSaid(content: readonly Json[], reason: string | null, usage: Json): Said {
  return {
    text: content
      .filter(({ type }) => type === 'text')
      .map(({ text }) => text)
      .join(''),
    refusal: '',
    reasoning: content
      .filter(({ type }) => type === 'thinking')
      .map(({ thinking }) => thinking)
      .join(''),
    calls: content
      .filter(({ type }) => type === 'tool_use')
      .map(({ id, name, input }): Call => ({ id, name, args: input })),
    finish: reason === null ? null : (messagesFinish[reason] ?? reason),
    usage: usage ? messagesUsage(usage) : null,
  };
}

function messagesUsage(usage: Json): SaidUsage {
  const cached = usage.cache_read_input_tokens ?? 0;
  return {
    in: usage.input_tokens + cached + (usage.cache_creation_input_tokens ?? 0),
    out: usage.output_tokens,
    cached,
    reasoning: usage.output_tokens_details?.thinking_tokens ?? 0,
  };
}

/** The JSON of the events of a stream. */
export function readEvents(text: string): Json[] {
  const events: Json[] = [];
  const parser = createParser({ onEvent: ({ data }) => void (data !== '[DONE]' && events.push(JSON.parse(data))) });
  parser.feed(text);
  return events;
}

import { asRecord, isRecord } from '#plugin-api';
import type { Question } from '../answer.ts';
import { Refusal, readStops, readContentText } from '../fake.ts';
import type { FakeRequest } from '../fake.ts';
import { problemReply } from './chat-problems.ts';
import type { ProblemDetails, ProblemKind } from './chat-problems.ts';
import type { ChatDialect } from './chat-dialect.ts';

export interface ChatRequest {
  readonly question: Question;
  readonly stream: boolean;
  /** The caller asked for a last chunk with the usage. */
  readonly streamUsage: boolean;
  readonly body: Readonly<Record<string, unknown>>;
}

const ranges: Readonly<Record<string, readonly [number, number]>> = {
  temperature: [0, 2],
  top_p: [0, 1],
  frequency_penalty: [-2, 2],
  presence_penalty: [-2, 2],
};

/**
 * Reads a chat completion request and checks it as the real ones do.
 *
 * @param model given by the address (Azure's deployment); else the body names it.
 * @throws Refusal in the dialect's shape.
 */
export function readChatRequest(dialect: ChatDialect, request: FakeRequest, model?: string): ChatRequest {
  const refuse = (kind: ProblemKind, details: ProblemDetails = {}): never => {
    throw new Refusal(problemReply(dialect, kind, details));
  };
  if (!isRecord(request.body)) return refuse('bad_json');
  const body = request.body;
  const name = model ?? body['model'];
  if (typeof name !== 'string' || name === '') return refuse('no_model');
  if (/(?:^|\/)missing-/.test(name)) refuse('unknown_model', { model: name });
  const messages = readMessages(body['messages'], refuse);
  checkNumbers(dialect, { body, model: name }, refuse);
  return {
    question: {
      provider: dialect.label,
      model: name,
      system: messages
        .filter(({ role }) => isSystem(role))
        .map(({ content }) => content)
        .join('\n\n'),
      messages: messages.filter(({ role }) => !isSystem(role)),
      maxTokens: integer(body['max_completion_tokens']) ?? integer(body['max_tokens']),
      stop: readStops(body['stop']),
      seed: `${String(request.seed)}/${String(integer(body['seed']) ?? '')}`,
      json: isRecord(body['response_format']) && /^json/.test(String(body['response_format']['type'])),
      reason: dialect.reasons(name, body),
      ...readTools(body),
    },
    stream: body['stream'] === true,
    streamUsage: isRecord(body['stream_options']) && body['stream_options']['include_usage'] === true,
    body,
  };
}

function readTools({
  tools,
  tool_choice: choice,
  response_format: format,
}: Record<string, unknown>): Partial<Question> {
  const schema = isRecord(format) && isRecord(format['json_schema']) ? format['json_schema']['schema'] : undefined;
  const named = isRecord(choice) && isRecord(choice['function']) ? choice['function']['name'] : choice;
  return {
    ...(schema !== undefined && { schema }),
    tools: (Array.isArray(tools) ? (tools as unknown[]) : []).filter(isRecord).map((tool) => {
      const called = asRecord(tool['function']);
      return { name: String(called['name']), parameters: called['parameters'] };
    }),
    ...(typeof named === 'string' && { toolChoice: named }),
  };
}

type Refuse = (kind: ProblemKind, details?: ProblemDetails) => never;

const roles = ['system', 'assistant', 'user', 'function', 'tool', 'developer'];
const isSystem = (role: string): boolean => role === 'system' || role === 'developer';

function readMessages(messages: unknown, refuse: Refuse): { role: string; content: string }[] {
  if (messages === undefined || messages === null) return refuse('no_messages');
  if (!Array.isArray(messages))
    return refuse('invalid', {
      param: 'messages',
      message: "Invalid type for 'messages': expected an array of objects.",
    });
  if (messages.length === 0) {
    return refuse('invalid', {
      param: 'messages',
      message:
        "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    });
  }
  return messages.map((message: unknown, index) => {
    const role = isRecord(message) ? message['role'] : undefined;
    if (typeof role !== 'string' || !roles.includes(role)) {
      const supported = roles.map((name) => `'${name}'`).join(', ');
      return refuse('invalid', {
        param: `messages[${String(index)}].role`,
        message: `Invalid value: '${String(role)}'. Supported values are: ${supported}.`,
      });
    }
    const content = isRecord(message) ? message['content'] : undefined;
    if (isRecord(message) && content === null && Array.isArray(message['tool_calls'])) return { role, content: '' };
    if (content === undefined || content === null || typeof content === 'number') {
      return refuse('invalid', {
        param: `messages[${String(index)}].content`,
        message: `Invalid value for 'content': expected a string, got ${content === undefined ? 'nothing' : String(content)}.`,
      });
    }
    return { role, content: readContentText(content) };
  });
}

function checkNumbers(
  dialect: ChatDialect,
  { body, model }: { body: Record<string, unknown>; model: string },
  refuse: Refuse,
): void {
  for (const [param, [least, most]] of Object.entries(ranges)) {
    const value = body[param];
    if (value === undefined || value === null) continue;
    if (typeof value !== 'number')
      refuse('invalid', {
        param,
        message: `Invalid type for '${param}': expected a decimal, but got something else instead.`,
      });
    else if (value < least)
      refuse('invalid', {
        param,
        message: `Invalid '${param}': decimal below minimum value. Expected a value >= ${String(least)}, but got ${String(value)} instead.`,
      });
    else if (value > most)
      refuse('invalid', {
        param,
        message: `Invalid '${param}': decimal above maximum value. Expected a value <= ${String(most)}, but got ${String(value)} instead.`,
      });
  }
  for (const param of ['max_tokens', 'max_completion_tokens']) {
    const value = body[param];
    if (value === undefined || value === null) continue;
    if (integer(value) === undefined || Number(value) < 1) {
      refuse('invalid', {
        param,
        message: `Invalid '${param}': integer below minimum value. Expected a value >= 1, but got ${String(value)} instead.`,
      });
    }
  }
  if (body['max_tokens'] !== undefined && dialect.refusesMaxTokens(model)) {
    refuse('unsupported', {
      param: 'max_tokens',
      message:
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    });
  }
}

function integer(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) ? value : undefined;
}

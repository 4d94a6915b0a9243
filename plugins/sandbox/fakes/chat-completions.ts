import { answer as makeAnswer, pieces } from '../answer.ts';
import type { Answer } from '../answer.ts';
import { jsonResponse, streamResponse } from '../fake.ts';
import type { FakeResponse, FakeRequest } from '../fake.ts';
import type { ChatDialect } from './chat-dialect.ts';
import { readChatRequest } from './chat-request.ts';
import type { ChatRequest } from './chat-request.ts';

const finishReasons = { end: 'stop', stop_sequence: 'stop', length: 'length' } as const;

/**
 * Answers `POST .../chat/completions` in OpenAI's format as the dialect speaks it, whole or streamed.
 *
 * @param model given by the address; else the body names it.
 */
export function chatCompletion(dialect: ChatDialect, request: FakeRequest, model?: string): FakeResponse {
  const chat = readChatRequest(dialect, request, model);
  const answer = makeAnswer(chat.question);
  const created = Math.floor(request.now / 1000);
  const envelope = { id: dialect.id(answer, created), created, model: dialect.modelName(chat.question.model) };
  if (chat.stream) return streamResponse(streamed({ dialect, chat, answer, envelope }), dialect.headers(answer));
  return jsonResponse(200, whole({ dialect, chat, answer, envelope }), dialect.headers(answer));
}

interface Parts {
  readonly dialect: ChatDialect;
  readonly chat: ChatRequest;
  readonly answer: Answer;
  readonly envelope: { readonly id: string; readonly created: number; readonly model: string };
}

function whole({ dialect, chat, answer, envelope }: Parts): unknown {
  const reasoning =
    dialect.reasoningMember && answer.reasoning !== '' ? { [dialect.reasoningMember]: answer.reasoning } : {};
  return {
    id: envelope.id,
    object: 'chat.completion',
    created: envelope.created,
    model: envelope.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          ...(answer.call === null ? { content: answer.text } : { content: null, tool_calls: [toolCall(answer.call)] }),
          ...reasoning,
          ...dialect.message(answer),
        },
        finish_reason: finishOf(answer),
        ...dialect.choice(answer),
      },
    ],
    usage: dialect.usage(answer),
    ...dialect.top(answer, chat),
  };
}

function finishOf({ call, finish }: Answer): string {
  return call === null ? finishReasons[finish] : 'tool_calls';
}

function toolCall({ id, name, input }: NonNullable<Answer['call']>): object {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(input) } };
}

/** Name first, then the arguments in two pieces. */
function toolDeltas({ id, name, input }: NonNullable<Answer['call']>): object[][] {
  const text = JSON.stringify(input);
  const half = Math.ceil(text.length / 2);
  return [
    [{ index: 0, id, type: 'function', function: { name, arguments: '' } }],
    [{ index: 0, function: { arguments: text.slice(0, half) } }],
    [{ index: 0, function: { arguments: text.slice(half) } }],
  ];
}

function streamed(parts: Parts): string[] {
  const { dialect, chat, answer } = parts;
  const withUsage = chat.streamUsage || dialect.alwaysStreamsUsage;
  const chunk = (
    choices: readonly unknown[],
    rest: Readonly<Record<string, unknown>> = chat.streamUsage ? { usage: null } : {},
  ): string =>
    `data: ${JSON.stringify({
      id: parts.envelope.id,
      object: 'chat.completion.chunk',
      created: parts.envelope.created,
      model: parts.envelope.model,
      choices,
      ...dialect.top(answer, chat),
      ...rest,
    })}\n\n`;
  const delta = (members: Readonly<Record<string, unknown>>, finish: string | null = null): string =>
    chunk([{ index: 0, delta: members, finish_reason: finish, logprobs: null }]);
  const member = dialect.reasoningMember;
  return [
    ...dialect.preamble,
    delta({ role: 'assistant', content: '' }),
    ...(member ? pieces(answer.reasoning).map((piece) => delta({ [member]: piece })) : []),
    ...pieces(answer.text).map((piece) => delta({ content: piece })),
    ...(answer.call === null ? [] : toolDeltas(answer.call).map((tool_calls) => delta({ tool_calls }))),
    delta({}, finishOf(answer)),
    ...(withUsage ? [chunk([], { usage: dialect.usage(answer) })] : []),
    'data: [DONE]\n\n',
  ];
}

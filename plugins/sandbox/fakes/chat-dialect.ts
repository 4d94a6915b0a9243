import type { Answer } from '../answer.ts';
import type { ProblemStyle } from './chat-problems.ts';
import type { ChatRequest } from './chat-request.ts';

type Members = Readonly<Record<string, unknown>>;

/** What sets one speaker of OpenAI's chat format apart from the others. */
export interface ChatDialect extends ProblemStyle {
  readonly label: string;
  /** Identifier of an answer. */
  id(answer: Answer, created: number): string;
  /** The model's name in answers. */
  modelName(asked: string): string;
  /** Whether the model gives a trace of reasoning. */
  reasons(model: string, body: Members): boolean;
  /** Models that take `max_completion_tokens` alone. */
  refusesMaxTokens(model: string): boolean;
  usage(answer: Answer): Members;
  /** Members of the message (and, streamed, of the deltas) beside role and content. */
  message(answer: Answer): Members;
  /** Member of a delta that carries a piece of reasoning; null: reasoning is not shown. */
  readonly reasoningMember: string | null;
  /** Members of a choice beside index, message and finish_reason. */
  choice(answer: Answer): Members;
  /** Members of the whole answer, and of each chunk. */
  top(answer: Answer, request: ChatRequest): Members;
  /** Whether a stream ends with the usage unasked. */
  readonly alwaysStreamsUsage: boolean;
  /** Lines before the first chunk of a stream. */
  readonly preamble: readonly string[];
  headers(answer: Answer): Readonly<Record<string, string>>;
}

/** Usage with OpenAI's own details. */
export function openAiUsage(answer: Answer): Members {
  return {
    prompt_tokens: answer.inputTokens,
    completion_tokens: answer.outputTokens,
    total_tokens: answer.inputTokens + answer.outputTokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: answer.reasoningTokens,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

/** OpenAI's own ways; the others change what differs. */
export const openAiDialect: ChatDialect = {
  label: 'OpenAI',
  sentences: {},
  shape: ({ message, type, param, code }) => ({ error: { message, type, param, code } }),
  id: (answer) => `chatcmpl-${answer.fingerprint.slice(0, 29)}`,
  modelName: (asked) => datedNames[asked] ?? asked,
  // From gpt-5.1 on a model reasons only when asked to.
  reasons: (model, { reasoning_effort: effort }) =>
    /^gpt-5\.\d/.test(model) ? effort !== undefined && effort !== 'none' : isReasoningModel(model),
  refusesMaxTokens: (model) => isReasoningModel(model),
  usage: openAiUsage,
  message: () => ({ refusal: null, annotations: [] }),
  reasoningMember: null,
  choice: () => ({ logprobs: null }),
  top: () => ({ service_tier: 'default', system_fingerprint: 'fp_5a4db0c5a4' }),
  alwaysStreamsUsage: false,
  preamble: [],
  headers: (answer) => ({ 'x-request-id': `req_${answer.fingerprint.slice(32)}`, 'openai-version': '2020-10-01' }),
};

/** OpenAI answers an alias with the dated name of the model behind it. */
const datedNames: Readonly<Record<string, string>> = {
  'gpt-4o': 'gpt-4o-2024-08-06',
  'gpt-4o-mini': 'gpt-4o-mini-2024-07-18',
  'gpt-4.1': 'gpt-4.1-2025-04-14',
  'gpt-4.1-mini': 'gpt-4.1-mini-2025-04-14',
  'gpt-5': 'gpt-5-2025-08-07',
  'gpt-5-mini': 'gpt-5-mini-2025-08-07',
  'gpt-5.4-mini': 'gpt-5.4-mini-2026-03-17',
  o3: 'o3-2025-04-16',
  'o4-mini': 'o4-mini-2025-04-16',
};

function isReasoningModel(model: string): boolean {
  return /^(?:o\d|gpt-5)/.test(model);
}

import type { TextFormat } from '../kit/reasoning.ts';

/** How the members of a request in the format of a vendor are billed. Each member is in one of both. */
export interface MemberPrices {
  /** Members that cost nothing but tokens. */
  readonly tokens: readonly string[];
  /** Members that have a price besides, or change that of the tokens, with their values that do not. */
  readonly priced: Readonly<Record<string, readonly unknown[]>>;
  /** Types of tools that the caller runs itself. Others the vendor runs, and may bill by use. */
  readonly ownTools: RegExp;
}

/** Tiers at the list price. */
const listed: readonly unknown[] = ['auto', 'default', 'standard', 'standard_only'];

const openAiTokens = [
  ...['metadata', 'model', 'moderation', 'parallel_tool_calls', 'prompt_cache_key', 'prompt_cache_options'],
  ...['prompt_cache_retention', 'safety_identifier', 'store', 'stream', 'stream_options', 'temperature'],
  ...['tool_choice', 'tools', 'top_logprobs', 'top_p', 'user'],
] as const;

/**
 * By the descriptions of the vendors, in the versions of their packages here. Chat Completions and Responses have some members
 * of xAI, DeepSeek and Ollama too.
 */
export const memberPrices: Readonly<Record<TextFormat, MemberPrices>> = {
  chat: {
    tokens: [
      ...openAiTokens,
      ...['messages', 'frequency_penalty', 'function_call', 'functions', 'logit_bias', 'logprobs'],
      ...['max_completion_tokens', 'max_tokens', 'n', 'prediction', 'presence_penalty', 'reasoning_effort'],
      ...['response_format', 'seed', 'stop', 'verbosity'],
      ...['top_k', 'min_p', 'repeat_penalty', 'repetition_penalty', 'thinking', 'reasoning', 'think', 'keep_alive'],
    ],
    priced: {
      modalities: [['text']],
      audio: [],
      service_tier: listed,
      web_search_options: [],
      search_parameters: [],
      data_sources: [],
    },
    ownTools: /^(function|custom)$/,
  },
  messages: {
    tokens: [
      ...['model', 'messages', 'system', 'max_tokens', 'stream', 'stop_sequences', 'temperature', 'top_k', 'top_p'],
      ...['cache_control', 'compaction', 'context_management', 'diagnostics', 'fallback_credit_token', 'metadata'],
      ...['output_config', 'output_format', 'thinking', 'thread', 'tool_choice', 'tools'],
    ],
    priced: {
      billing_policy: [],
      container: [],
      fallbacks: [],
      inference_geo: ['global'],
      mcp_servers: [[]],
      service_tier: listed,
      speed: ['standard'],
    },
    ownTools: /^(custom|(bash|text_editor|computer|memory|browser_toolset|computer_toolset)_\d{8})$/,
  },
  responses: {
    tokens: [
      ...openAiTokens,
      ...['input', 'instructions', 'access_programs', 'background', 'context_management', 'conversation', 'image'],
      ...['include', 'max_output_tokens', 'max_tool_calls', 'previous_response_id', 'reasoning', 'text', 'truncation'],
    ],
    priced: {
      background_options: [{ completion_window: 'soonest' }],
      prompt: [],
      service_tier: listed,
      search_parameters: [],
    },
    ownTools: /^(function|custom|namespace|local_shell|apply_patch|computer|computer_use_preview)$/,
  },
};

import { asRecord, RestError } from '#plugin-api';

/** Parameters of this service by the names that Anthropic gives them. */
const names: Readonly<Record<string, string>> = {
  max_completion_tokens: 'max_tokens',
  stop: 'stop_sequences',
  reasoning_effort: 'thinking',
  user: 'metadata.user_id',
  'messages.reasoning': 'messages.thinking',
  parallel_tool_calls: 'tool_choice.disable_parallel_tool_use',
  'response_format.json_schema': 'output_config.format',
};

export function anthropicName(name: string): string {
  return Object.hasOwn(names, name) ? (names[name] ?? name) : name;
}

/** An error about a parameter, with the name that its sender used. */
export function withAnthropicNames(error: unknown): unknown {
  if (!(error instanceof RestError)) return error;
  const data = asRecord(error.data);
  const param = data['param'];
  if (typeof param !== 'string' || anthropicName(param) === param) return error;
  const { code, status, headers } = error;
  const message = error.message.replace(param, anthropicName(param));
  return new RestError({
    code,
    status,
    message,
    headers,
    data: { ...data, param: anthropicName(param) },
    cause: error,
  });
}

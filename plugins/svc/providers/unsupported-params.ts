import { aiParamSchemas, type AiParamName } from '../kit/ai-params.ts';
import { mapParams, type ParamNames, type ParamRules } from './params.ts';
import { ProviderError } from './provider.ts';
import type { ProviderConnection, TextCapability, TextRequest, TextResult } from './provider.ts';

type Generate = (
  request: TextRequest,
  connection: ProviderConnection,
  onText?: (piece: string) => void,
) => Promise<TextResult>;

// Error messages of upstreams for unsupported parameters. `$1` is the wire name, in snake or camel case.
const refusals: readonly RegExp[] = [
  /unsupported (?:parameter|value): '([\w.]+)'/i, // OpenAI, Azure
  /unrecognized request argument supplied: (\w+)/i, // OpenAI, Azure
  /does not support parameter (\w+)/i, // xAI
  /`(\w+)` is (?:deprecated|not supported) (?:for|on|by|with) this model/i, // Claude
  /`\w+` and `(\w+)` cannot both be specified/i, // Claude
];

/**
 * Models change more often than the rules here. If a model refuses a parameter, this repeats the call without it, reports
 * it as ignored (D8), and leaves it out of later calls of this process. The length limit is never dropped, because that
 * could raise the cost, and neither is a parameter that the request requires.
 */
export function rememberUnsupportedParams(names: ParamNames, generate: Generate): Generate {
  const learned = new Map<string, ReadonlySet<AiParamName>>();
  /** Models that take tools only without reasoning. */
  const unthinking = new Set<string>();
  const none: ReadonlySet<AiParamName> = new Set();
  return async (request, connection, onText) => {
    let hasBegun = false;
    const forward =
      onText &&
      ((piece: string): void => {
        hasBegun = true;
        onText(piece);
      });
    const key = `${request.model} ${String(connection.settings.base_url)}`;
    let refused = learned.get(key) ?? none;
    let isUnthinking = unthinking.has(key) && mayStopThinking(request);
    for (;;) {
      const dropped = refused === none ? [] : droppableNames(request).filter((name) => refused.has(name));
      const rest = dropped.length === 0 ? request : { ...request, params: omit(request.params, dropped) };
      const without = isUnthinking ? { ...rest, params: { ...rest.params, reasoning_effort: 'none' as const } } : rest;
      try {
        const result = await generate(without, connection, forward);
        const ignored = dropped.length === 0 ? result.ignored : inOrder(request, [...result.ignored, ...dropped]);
        return { ...result, ignored: isUnthinking ? [...new Set([...ignored, 'reasoning_effort'])] : ignored };
      } catch (error) {
        if (!hasBegun && !isUnthinking && needsNoReasoning(error) && mayStopThinking(request)) {
          if (unthinking.size >= 500) unthinking.clear();
          unthinking.add(key);
          isUnthinking = true;
          continue;
        }
        const found = findUnsupportedParams(error, names).filter((name) => droppableNames(without).includes(name));
        if (found.length === 0 || hasBegun) throw error;
        refused = new Set([...refused, ...found]);
        if (learned.size >= 500) learned.clear();
        if (holdsForAllCalls(error)) learned.set(key, refused);
      }
    }
  };
}

/** The texts of a provider. Refused parameters are left out, as `rememberUnsupportedParams` says. */
export function createTextCapability({
  rules,
  generate,
  stream,
  ...traits
}: Pick<TextCapability, 'sees' | 'format' | 'supports' | 'reportsCost' | 'countTokens' | 'fetchesImages'> & {
  readonly rules: ParamRules;
  generate(request: TextRequest, connection: ProviderConnection): Promise<TextResult>;
  stream(request: TextRequest, connection: ProviderConnection, onText: (piece: string) => void): Promise<TextResult>;
}): TextCapability {
  const { names } = rules;
  const call = rememberUnsupportedParams(names, (request, connection, onText) =>
    onText === undefined ? generate(request, connection) : stream(request, connection, onText),
  );
  return {
    params: names,
    ...traits,
    unsupportedParams: (given) => mapParams(rules, given).lost,
    generate: (request, connection) => call(request, connection),
    stream: call,
  };
}

/** OpenAI's newest models take tools in Chat Completions only with the effort `none`, also where a request names no effort. */
function needsNoReasoning(error: unknown): boolean {
  return (
    error instanceof ProviderError &&
    error.kind === 'rejected' &&
    /set reasoning_effort to ['"`]?none/i.test(error.message)
  );
}

function mayStopThinking({ tools = [], required = [], params }: TextRequest): boolean {
  return tools.length > 0 && !required.includes('reasoning_effort') && params.reasoning_effort !== 'none';
}

/** A refusal of one value, or of two keys together, does not apply to other calls. */
function holdsForAllCalls(error: unknown): boolean {
  return !(error instanceof Error && /cannot both|reasoning.?effort/i.test(error.message));
}

/** The keys of `ai_params` that an error refuses; empty for other errors. */
export function findUnsupportedParams(error: unknown, names: ParamNames): AiParamName[] {
  if (!(error instanceof ProviderError) || error.kind !== 'rejected') return [];
  if (/penalty is not enabled/i.test(error.message)) return ['frequency_penalty', 'presence_penalty']; // Google
  if (/does not support thinking/i.test(error.message)) return ['reasoning_effort']; // Ollama
  const found = refusals.map((pattern) => pattern.exec(error.message)?.[1]).find((name) => name !== undefined);
  if (found === undefined) return [];
  const snake = found.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const entries = Object.entries(names) as [AiParamName, string][];
  return entries
    .filter(([name, wire]) => name !== 'max_completion_tokens' && (wire === found || wire === snake || name === snake))
    .map(([name]) => name);
}

function requestedNames(request: TextRequest): AiParamName[] {
  return Object.keys(request.params).filter((name): name is AiParamName => Object.hasOwn(aiParamSchemas, name));
}

function droppableNames(request: TextRequest): AiParamName[] {
  return requestedNames(request).filter((name) => request.required?.includes(name) !== true);
}

function inOrder(request: TextRequest, names: readonly string[]): string[] {
  return requestedNames(request).filter((name) => names.includes(name));
}

function omit(params: TextRequest['params'], names: readonly AiParamName[]): TextRequest['params'] {
  return Object.fromEntries(Object.entries(params).filter(([name]) => !names.includes(name as AiParamName)));
}

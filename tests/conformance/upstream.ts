import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { AiParamName, AiParams } from '../../plugins/svc/kit/ai-params.ts';
import type { Reasoning } from '../../plugins/svc/kit/reasoning.ts';
import type { ProviderError, ProviderSettings, TextResult } from '../../plugins/svc/providers/provider.ts';

export type JsonBody = Readonly<Record<string, unknown>>;

/** Answers of `tests/fixtures/providers/<id>.json`. */
export interface Fixtures {
  readonly answer: JsonBody;
  readonly models: JsonBody;
  readonly filtered: JsonBody;
  readonly filteredReason: string;
  readonly error: JsonBody;
  readonly errors: Readonly<Record<string, JsonBody | string>>;
}

/** What the conformance suite knows of one upstream, from its documentation and not from our code. */
export interface Upstream {
  readonly id: string;
  readonly label: string;
  /** The format of its API, where a vendor has several. Default: that of its fixtures. */
  readonly format?: 'responses';
  readonly settings: ProviderSettings;
  readonly origin: string;
  /** A model that takes most parameters. */
  readonly model: string;
  readonly generatePath: string;
  /** Where streams are asked for; default `generatePath`. */
  readonly streamPath?: string;
  /** The event of an error that comes in a stream, and the status it stands for. */
  readonly streamError?: readonly [event: string, status: number];
  /** Members of the body that ask for a stream; default those of Chat Completions with its usage. */
  readonly streamMembers?: JsonBody;
  readonly modelsPath: RegExp;
  /** Header that carries the key, and its value. */
  readonly key: readonly [name: string, value: string];
  /** Model named in the answer of the fixtures. */
  readonly answeredBy: string;
  /** What it thought in the answers of the fixtures, whole and streamed. Left out: nothing that is returned. */
  readonly reasoning?: { readonly whole: readonly Reasoning[]; readonly streamed: readonly Reasoning[] };
  readonly listed: readonly string[];
  /** The body's system text; undefined when there is none. */
  systemOf(body: JsonBody): unknown;
  /** The conversation without the system text, as [wire's role, text]. */
  turnsOf(body: JsonBody): (readonly [string, string])[];
  /** The wire's name of the role `assistant`. */
  readonly assistant: string;
  /** Where parameters stand in the body. */
  paramsOf(body: JsonBody): JsonBody;
  /** What `sampleParams` become on the wire, each given alone; null: not taken by this model, so named as ignored. */
  readonly wire: Readonly<Record<AiParamName, JsonBody | null>>;
  /** The official schema of the request, where it speaks of this upstream. */
  readonly valid: ValidateFunction;
}

/** One value for each key of D8. */
export const sampleParams: Required<AiParams> = {
  temperature: 0.4,
  max_completion_tokens: 200,
  top_p: 0.9,
  frequency_penalty: 0.5,
  presence_penalty: -0.5,
  stop: ['END', 'STOP'],
  seed: 7,
  top_k: 40,
  reasoning_effort: 'low',
};

export function fixturesOf(id: string, format?: Upstream['format']): Fixtures {
  const read = (name: string): Fixtures =>
    JSON.parse(readFileSync(new URL(`../fixtures/providers/${name}.json`, import.meta.url), 'utf8')) as Fixtures;
  return format === undefined ? read(id) : { ...read(id), ...read(format) };
}

/** The name of an upstream in the titles of tests. */
export function titleOf({ label, format, settings }: Upstream): string {
  const detail = format ?? settings.api_version;
  return detail === undefined ? label : `${label} (${detail})`;
}

/** A stream made by hand: `tests/fixtures/providers/streams/<id>.sse`. All say the same, with the usage of the answers. */
export function streamOf(id: string): string {
  return readFileSync(new URL(`../fixtures/providers/streams/${id}.sse`, import.meta.url), 'utf8');
}

/** What the streams say. */
export const streamed = 'Bonjour, ça va ? 🌍 日本語.';

/** The body an upstream sends with an error status: that of the fixtures, else its shape around a sentence of the status. */
export function errorBody(fixtures: Fixtures, status: number): { body: JsonBody | string; sentence: string } {
  const recorded = fixtures.errors[String(status)];
  const sentence = `Recorded sentence of status ${String(status)}.`;
  if (recorded === undefined)
    return { body: JSON.parse(JSON.stringify(fixtures.error).replace('{message}', sentence)) as JsonBody, sentence };
  return { body: recorded, sentence: typeof recorded === 'string' ? recorded : (innerSentence(recorded) ?? '') };
}

function innerSentence(body: JsonBody): string | undefined {
  const error = body['error'] as JsonBody | string | undefined;
  return (typeof error === 'object' ? error['message'] : (error ?? body['message'])) as string | undefined;
}

const validators = new Map<string, ValidateFunction>();

/** @param notRequired members the document requires and the real interface does not. */
export function requestValidator(
  spec: 'openai' | 'anthropic' | 'gemini',
  schema: string,
  notRequired: readonly string[] = [],
): ValidateFunction {
  const known = validators.get(spec);
  if (known) return known;
  const { $defs } = JSON.parse(readFileSync(new URL(`../specs/${spec}-requests.json`, import.meta.url), 'utf8')) as {
    $defs: Record<string, { required?: string[] }>;
  };
  const root = $defs[schema]!;
  root.required = (root.required ?? []).filter((name) => !notRequired.includes(name));
  const compiled = new Ajv2020({ strict: false, allErrors: true }).compile({ $defs, $ref: `#/$defs/${schema}` });
  validators.set(spec, compiled);
  return compiled;
}

/** What a text that the fixture `filtered` answers comes to: an error, or a result that says why it has no text. */
export function withheldBy(result: TextResult | null, error: ProviderError | null): { kind: string; said: string } {
  if (error !== null) return { kind: error.kind, said: error.message };
  const { content = '', refusal = '', finish = '' } = result ?? {};
  return {
    kind: content === '' && (refusal !== '' || finish === 'content_filter') ? 'rejected' : content,
    said: `${refusal} ${finish}`,
  };
}

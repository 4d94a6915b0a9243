import { asRecord, isRecord, RestError, type Params } from '#plugin-api';
import { callerOf } from '../../kit/caller.ts';
import { errors } from '../../kit/errors.ts';
import { openAiParameters } from './openai.routes.ts';
import type { OpenAiRequest } from './openai-ports.ts';

/** Parameters of OpenAI that only have an effect with other values than these, which are its defaults. */
const harmless: Readonly<Record<string, readonly unknown[]>> = {
  logprobs: [false],
  logit_bias: [{}],
  top_logprobs: [0],
  service_tier: ['auto', 'default'],
  verbosity: ['medium'],
  moderation: ['auto'],
  background: ['auto'],
  modalities: [['text']],
  // Of images; chat completions can stream.
  stream: [false],
  partial_images: [0],
};

/**
 * The parameters of a validated request without those that are null.
 *
 * @param ignored gets the names of parameters that no model gets, where the key is lenient
 * @throws RestError 400 `rest_svc_parameter_unknown` that names such a parameter
 */
export function readParams(request: OpenAiRequest, kind: keyof typeof openAiParameters, ignored: string[]): Params {
  const { json, params } = request;
  const known = openAiParameters[kind];
  for (const [name, value] of Object.entries(asRecord(json))) {
    if (known.includes(name) || value === null || isHarmless(name, value)) continue;
    if (!isLenient(request)) throw errors.parameter_unknown({ values: { param: name }, data: { param: name } });
    ignored.push(name);
  }
  return Object.fromEntries(known.map((name) => [name, params[name] ?? undefined]));
}

/** Whether the key of a request leaves out what a model lacks (D41). */
export function isLenient(request: OpenAiRequest): boolean {
  return callerOf(request)?.isLenient === true;
}

function isHarmless(name: string, value: unknown): boolean {
  const values = Object.hasOwn(harmless, name) ? harmless[name] : undefined;
  return values?.some((one) => JSON.stringify(one) === JSON.stringify(value)) === true;
}

/** @param name path of the value, for example `messages[0].content` */
export function invalid(name: string, message: string): RestError {
  return new RestError({
    code: 'rest_invalid_param',
    status: 400,
    message: `Invalid parameter(s): ${name}`,
    data: { params: { [name]: `${name} ${message}` } },
  });
}

/** @throws RestError 400 unless the value is an object */
export function requireObject(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (isRecord(value)) return value;
  throw invalid(name, 'must be an object.');
}

/** @throws RestError 400 unless the value is a text or missing; null counts as missing */
export function optionalText(value: unknown, name: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  throw invalid(name, 'must be a string.');
}

/** @throws RestError 400 unless the value is true, false or missing; null counts as missing */
export function optionalFlag(value: unknown, name: string): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'boolean') return value;
  throw invalid(name, 'must be true or false.');
}

/** @throws RestError 400 `rest_svc_parameter_unknown` for a member that is not listed, unless it is null */
export function onlyMembers(object: Readonly<Record<string, unknown>>, name: string, known: readonly string[]): void {
  const other = Object.keys(object).find((key) => !known.includes(key) && object[key] !== null);
  if (other === undefined) return;
  const param = `${name}.${other}`;
  throw errors.parameter_unknown({ values: { param }, data: { param } });
}

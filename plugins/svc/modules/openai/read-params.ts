import { asRecord, type Params } from '#plugin-api';
import { isLenient } from '../../kit/caller.ts';
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

function isHarmless(name: string, value: unknown): boolean {
  const values = Object.hasOwn(harmless, name) ? harmless[name] : undefined;
  return values?.some((one) => JSON.stringify(one) === JSON.stringify(value)) === true;
}

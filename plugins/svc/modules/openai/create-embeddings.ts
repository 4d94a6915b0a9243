import { RestResponse } from '#plugin-api';
import type { Embedded } from '../../ai/embed.ts';
import { callerOf } from '../../kit/caller.ts';
import { errors } from '../../kit/errors.ts';
import { responseHeaders } from '../../kit/response-headers.ts';
import { mapVectors, writeVectors } from '../../kit/write-vectors.ts';
import { invalid } from '../../kit/read-members.ts';
import { findProviderModel } from './models.ts';
import { restOrigin } from '../../kit/usage-origin.ts';
import type { OpenAiPorts, OpenAiRequest } from './openai-ports.ts';
import { readParams } from './read-params.ts';

/** Handler of `POST embeddings`. */
export function createEmbeddings(ports: OpenAiPorts) {
  return async (request: OpenAiRequest): Promise<RestResponse> => {
    const ignored: string[] = [];
    const { model, input, dimensions, encoding_format, user } = readParams(request, 'embeddings', ignored) as {
      model: string;
      input: string | readonly (string | number | readonly number[])[];
      dimensions?: number;
      encoding_format?: 'float' | 'base64';
      user?: string;
    };
    const given = readInput(input);
    const chosen = await findProviderModel(model, ports, callerOf(request));
    const fields = await supportedFields(ports, chosen, { dimensions, user });
    const { hooks } = ports.host;
    const call = await hooks.applyFiltersAsync(
      'svc_embeddings_request',
      { provider: chosen.provider, model: chosen.model, ...given, ...fields.request },
      request,
    );
    const result = await ports.embed({
      provider: call.provider,
      model: call.model,
      input: call.tokens ?? call.input,
      dimensions: call.dimensions,
      outputDimensionality: call.output_dimensionality,
      user: call.user,
      signal: request.signal,
      origin: restOrigin(request, '/svc-openai/v1/embeddings'),
    });
    const { usage, provider, providerId, packed } = result;
    const isFiltered = hooks.hasFilter('svc_embeddings_response') !== false;
    const response = isFiltered
      ? await hooks.applyFiltersAsync(
          'svc_embeddings_response',
          { embeddings: await numbersOf(result), usage, provider, model: result.model },
          call,
          request,
        )
      : { embeddings: packed ?? result.embeddings, usage, model: result.model };
    const { input_tokens: prompt_tokens, total_tokens } = response.usage;
    return listResponse(response.embeddings, {
      format: encoding_format,
      rest: { model, usage: { prompt_tokens, total_tokens }, svc: { provider: providerId, model: response.model } },
      headers: responseHeaders({ ...result, ignored: [...result.ignored, ...ignored] }),
    });
  };
}

type Vector = Float32Array | readonly number[];

function numbersOf({ embeddings, packed }: Embedded): Embedded['embeddings'] | Promise<Embedded['embeddings']> {
  if (packed === undefined) return embeddings;
  return mapVectors(packed, (vectors) => vectors.map((vector) => Array.from(vector)));
}

interface ListInit {
  readonly format: 'float' | 'base64' | undefined;
  readonly rest: object;
  readonly headers: Record<string, string>;
}

/** OpenAI's list of embeddings. */
function listResponse(vectors: readonly Vector[], { format, rest, headers }: ListInit): RestResponse {
  const entry = (vector: Vector, index: number) => ({
    object: 'embedding',
    index,
    embedding: format === 'base64' ? base64Vector(vector) : Array.from(vector),
  });
  const head = { object: 'list' };
  let data: object[] | undefined;
  const body = {
    ...head,
    get data() {
      return (data ??= vectors.map(entry));
    },
    ...rest,
  };
  const write = () =>
    writeVectors(vectors, {
      head: `${JSON.stringify(head).slice(0, -1)},"data":[`,
      tail: `],${JSON.stringify(rest).slice(1)}`,
      write: (slice, first) => JSON.stringify(slice.map((vector, at) => entry(vector, first + at))).slice(1, -1),
    });
  return new RestResponse({ body, headers, write });
}

const maxInputs = 2048;

/** Texts, or ids of tokens of one or several texts. @throws RestError 400 that names what is wrong */
function readInput(input: string | readonly (string | number | readonly number[])[]): {
  readonly input: readonly string[];
  readonly tokens?: readonly (readonly number[])[];
} {
  const list = typeof input === 'string' ? [input] : input;
  const isId = (one: unknown): one is number => typeof one === 'number';
  const inputs = list.every(isId) ? [list] : list;
  if (inputs.length > maxInputs) throw invalid('input', `has more than ${String(maxInputs)} texts.`);
  const blank = inputs.findIndex((one) =>
    typeof one === 'string' ? one.trim() === '' : !isId(one) && one.length === 0,
  );
  if (blank >= 0) throw errors.empty_input({ values: { name: `input[${String(blank)}]` }, data: { param: 'input' } });
  const texts = inputs.filter((one) => typeof one === 'string');
  const tokens = inputs.filter((one) => typeof one === 'object');
  if (texts.length === inputs.length) return { input: texts };
  if (tokens.length === inputs.length) return { input: [], tokens };
  throw invalid('input', 'must have texts only, or ids of tokens only.');
}

interface Given {
  readonly dimensions: number | undefined;
  readonly user: string | undefined;
}

/** @throws RestError 400 `rest_svc_parameter_not_supported` that names the field, before anything is spent */
async function supportedFields(
  { providers, settings }: OpenAiPorts,
  { provider: id, model }: { readonly provider: string; readonly model: string },
  { dimensions, user }: Given,
) {
  const provider = providers.get(id);
  const takes = provider?.embeddings?.takes?.(model, await settings.provider(id)) ?? [];
  const refuse = (param: string) =>
    errors.parameter_not_supported({
      values: { provider: provider?.label ?? id, model, param },
      data: { param, provider: id, model },
    });
  const length = takes.includes('dimensions') ? 'dimensions' : 'output_dimensionality';
  if (dimensions !== undefined && !takes.includes('dimensions') && !takes.includes('outputDimensionality'))
    throw refuse('dimensions');
  return {
    request: {
      ...(dimensions !== undefined && { [length]: dimensions }),
      ...(user !== undefined && { user }),
    },
  };
}

/** 32-bit floats, little endian, as OpenAI sends them. */
function base64Vector(vector: Vector): string {
  const bytes = Buffer.allocUnsafe(vector.length * 4);
  vector.forEach((value, index) => bytes.writeFloatLE(value, index * 4));
  return bytes.toString('base64');
}

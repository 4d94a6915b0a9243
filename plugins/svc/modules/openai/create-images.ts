import { RestResponse, withoutUndefined } from '#plugin-api';
import { callerOf, isLenient } from '../../kit/caller.ts';
import { errors } from '../../kit/errors.ts';
import { responseHeaders } from '../../kit/response-headers.ts';
import { findProviderModel } from './models.ts';
import { restOrigin } from '../../kit/usage-origin.ts';
import type { OpenAiPorts, OpenAiRequest } from './openai-ports.ts';
import { readParams } from './read-params.ts';

interface ImageParams {
  readonly model: string;
  readonly prompt: string;
  readonly n?: number;
  readonly size?: 'auto' | `${number}x${number}`;
  readonly quality?: 'auto' | 'standard' | 'hd' | 'medium' | 'high';
  readonly style?: 'vivid' | 'natural';
  readonly response_format?: 'url' | 'b64_json';
  readonly user?: string;
}

/** OpenAI's newer models call them by other names. */
const qualities = { auto: undefined, standard: 'standard', medium: 'standard', hd: 'hd', high: 'hd' } as const;

/** Handler of `POST images/generations`. */
export function createImages(ports: OpenAiPorts) {
  return async (request: OpenAiRequest): Promise<RestResponse> => {
    const ignored: string[] = [];
    const given = readParams(request, 'images', ignored) as unknown as ImageParams;
    if (given.prompt.trim() === '') throw errors.empty_input({ values: { name: 'prompt' }, data: { param: 'prompt' } });
    const chosen = await findProviderModel(given.model, ports, callerOf(request));
    const size = given.size === 'auto' ? undefined : given.size;
    const quality = given.quality === undefined ? undefined : qualities[given.quality];
    const { style, n = 1, response_format = 'b64_json' } = given;
    if (!isLenient(request)) await refuseUnsupported(ports, chosen, { size, quality, style });
    const { hooks } = ports.host;
    const call = await hooks.applyFiltersAsync(
      'svc_images_request',
      {
        provider: chosen.provider,
        model: chosen.model,
        prompt: given.prompt,
        n,
        response_format,
        ...withoutUndefined({ size, quality, style }),
      },
      request,
    );
    const { response_format: form, ...input } = call;
    const result = await ports.generateImages({
      ...input,
      form,
      userId: request.user.id,
      signal: request.signal,
      origin: restOrigin(request, '/svc-openai/v1/images/generations'),
    });
    const { images, usage, message } = await hooks.applyFiltersAsync(
      'svc_images_response',
      { images: result.images, usage: result.usage, message: result.message },
      call,
      request,
    );
    const data = images.map(({ url, b64_json, revised_prompt }) => ({
      ...(form === 'url' && url !== null ? { url } : { b64_json }),
      ...(revised_prompt !== null && { revised_prompt }),
    }));
    return new RestResponse({
      body: {
        created: Math.floor(ports.host.clock.now() / 1000),
        data,
        ...(usage !== null && { usage }),
        svc: { provider: result.providerId, model: result.model, message },
      },
      // No vendor of images gets it, and no image depends on it.
      headers: responseHeaders({
        ignored: [...result.ignored, ...ignored, ...(given.user === undefined ? [] : ['user'])],
      }),
    });
  };
}

type Fields = Readonly<Record<'size' | 'quality' | 'style', string | undefined>>;

/** @throws RestError 400 `rest_svc_parameter_not_supported` that names the field, before anything is spent */
async function refuseUnsupported(
  { providers, settings }: OpenAiPorts,
  { provider: id, model }: { readonly provider: string; readonly model: string },
  { size, quality, style }: Fields,
): Promise<void> {
  const provider = providers.get(id);
  const takes = provider?.images?.takes?.(model, await settings.provider(id));
  if (provider === undefined || takes === undefined) return;
  const refused = [
    ...(size !== undefined && !takes.size ? ['size'] : []),
    ...(quality !== undefined && !takes.quality.some((name) => name === quality) ? ['quality'] : []),
    ...(style !== undefined && !takes.style ? ['style'] : []),
  ];
  const [param] = refused;
  if (param === undefined) return;
  throw errors.parameter_not_supported({
    values: { provider: provider.label, model, param },
    data: { param, provider: id, model },
  });
}

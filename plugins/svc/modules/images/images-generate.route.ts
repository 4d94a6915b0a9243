import { argumentBounds, RestResponse, withoutUndefined } from '#plugin-api';
import type { JsonSchema, ParamsOf, RestRequest, RouteArguments } from '#plugin-api';
import { responseHeaders } from '../../kit/response-headers.ts';
import { errors } from '../../kit/errors.ts';
import { imageParamSchemas } from '../../kit/image-params.ts';
import { restOrigin } from '../../kit/usage-origin.ts';
import { definePostRoute, providerArgument } from '../../kit/route.ts';
import type { ImagesCall, ImagesResponse } from './hooks.ts';
import type { ImagePorts } from './images.ts';

const textOrNull = (description: string) => ({ type: ['string', 'null'], description }) as const;

const responseSchema = {
  type: 'object',
  title: 'images',
  properties: {
    images: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          url: textOrNull('Image address when response_format is url.'),
          b64_json: textOrNull('Base64 image data when response_format is b64_json.'),
          revised_prompt: textOrNull('Prompt as rewritten by the provider, when given.'),
        },
      },
    },
    usage: { type: ['object', 'null'], description: 'Usage data of the provider, when it returned any.' },
    message: { type: 'string', description: 'How many images were generated; if some failed, how many and why.' },
  },
} as const satisfies JsonSchema;

const args = (ports: ImagePorts) =>
  ({
    prompt: {
      type: 'string',
      required: true,
      ...argumentBounds.document,
      description: 'Text description of the image.',
      examples: ['A lighthouse at dusk, in watercolour'],
    },
    provider: providerArgument({
      ids: () => ports.imageProviderIds(),
      default: 'openai',
      description: 'Id of the provider that generates the images.',
    }),
    model: {
      type: 'string',
      ...argumentBounds.line,
      description: 'Image model identifier, for azure the deployment; the saved settings supply it when omitted.',
    },
    n: { type: 'integer', minimum: 1, maximum: 10, default: 1, description: 'Number of images.' },
    size: {
      ...imageParamSchemas.size,
      description: `${imageParamSchemas.size.description} The saved settings supply it when omitted.`,
    },
    quality: imageParamSchemas.quality,
    style: imageParamSchemas.style,
    response_format: {
      type: 'string',
      enum: ['url', 'b64_json'],
      default: 'url',
      description: 'An address, or base64 data.',
    },
  }) as const satisfies RouteArguments;

type ImagesParams = ParamsOf<ReturnType<typeof args>>;

/** `POST /images/generate` (contract 4.3, 2.3; D5, D10). */
export const imagesGenerateRoute = definePostRoute({
  path: '/images/generate',
  access: 'images',
  hasDryRun: true,
  summary: 'Generate images.',
  schema: responseSchema,
  args,
  handler: generate,
});

async function generate(request: RestRequest<ImagesParams>, ports: ImagePorts): Promise<RestResponse> {
  const { hooks } = ports.host;
  const call = await hooks.applyFiltersAsync('svc_images_request', callOf(request.params), request);
  const { response_format, ...input } = call;
  const result = await ports.generateImages({
    ...input,
    form: response_format,
    userId: request.user.id,
    signal: request.signal,
    origin: restOrigin(request, '/images/generate'),
  });
  const images = result.images.map(({ url, b64_json, revised_prompt }) => ({ url, b64_json, revised_prompt }));
  const response: ImagesResponse = { images, usage: result.usage, message: result.message };
  const body = await hooks.applyFiltersAsync('svc_images_response', response, call, request);
  return new RestResponse({ body, headers: responseHeaders({ ignored: result.ignored }) });
}

/** @throws RestError 400 `rest_svc_empty_input` for a blank prompt (D5). */
function callOf({ provider, model, prompt, n, size, quality, style, response_format }: ImagesParams): ImagesCall {
  if (prompt.trim() === '') throw errors.empty_input({ values: { name: 'prompt' } });
  // The pattern of the schema.
  const sides = size as `${number}x${number}` | undefined;
  return { provider, prompt, n, response_format, ...withoutUndefined({ model, size: sides, quality, style }) };
}

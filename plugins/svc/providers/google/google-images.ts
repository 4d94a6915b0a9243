import type { GenerateContentParameters } from '@google/genai';
import { findImageRules, supportedFields, writeImageFields } from '../images/image-rules.ts';
import type { ImageModelTable, ImageRules } from '../images/image-rules.ts';
import type { JsonObject } from '../json.ts';
import type {
  ImageCapability,
  ImageEditRequest,
  ImageRequest,
  ImageResult,
  ProviderConnection,
  ImageEditRules,
} from '../provider.ts';
import { keepUsage } from '../provider-errors.ts';
import { withTimeLimit } from '../time-limit.ts';
import { callGoogle, predictGoogle } from './google-client.ts';
import { geminiImages, imagenImages } from './google-images-response.ts';
import { googleReport } from './google-response.ts';

const geminiShapes = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'];
/** In bytes: a request can have 20 MB, including the image in base64. Masks are not supported. */
const geminiEdit: ImageEditRules = {
  types: ['image/png', 'image/jpeg', 'image/webp'],
  most: 14 * 1_048_576,
  mask: false,
};
const gemini: Omit<ImageRules, 'size'> = {
  perCall: 1,
  quality: {},
  style: false,
  responseFormat: false,
  edit: geminiEdit,
};
const imagen: Omit<ImageRules, 'size' | 'perCall'> = { quality: {}, style: false, responseFormat: false };
const imagenSizes = { shapeName: 'aspectRatio', shapes: ['1:1', '3:4', '4:3', '9:16', '16:9'] };
const largeImagenSizes = { ...imagenSizes, tiers: { name: 'sampleImageSize', edges: { '1K': 1024, '2K': 2048 } } };

/**
 * Google's image models. Sizes map to the nearest aspect ratio and, from Gemini 3 and Imagen 4 on, to a resolution tier.
 * All return base64 only; none supports a quality or a style.
 */
export const googleImageModels: ImageModelTable = {
  models: [
    [/^imagen-4.*fast/, { ...imagen, perCall: 4, size: imagenSizes }],
    [/^imagen-4.*ultra/, { ...imagen, perCall: 1, size: largeImagenSizes }],
    [/^imagen-[4-9]/, { ...imagen, perCall: 4, size: largeImagenSizes }],
    [/^imagen/, { ...imagen, perCall: 4, size: imagenSizes }],
    [/^gemini-2\.0/, { ...gemini, size: null }],
    [/^gemini-2/, { ...gemini, size: { shapeName: 'aspectRatio', shapes: geminiShapes } }],
  ],
  others: {
    ...gemini,
    size: {
      shapeName: 'aspectRatio',
      shapes: geminiShapes,
      tiers: { name: 'imageSize', edges: { '1K': 1024, '2K': 2048, '4K': 4096 } },
    },
  },
};

/** Imagen uses `predict`, Gemini `generateContent`. */
function isImagen(model: string): boolean {
  return /^(models\/)?imagen/i.test(model);
}

/** Gemini 2.0 requires both modalities; later models could then return text only. */
function geminiModalities(model: string): readonly string[] {
  return /^(models\/)?gemini-2\.0/i.test(model) ? ['TEXT', 'IMAGE'] : ['IMAGE'];
}

/** Images with generateContent of `@google/genai`, and with Imagen's predict, which that package supports on Vertex AI only. */
export const googleImages: ImageCapability = {
  perCall: (model) => findImageRules(googleImageModels, model).perCall,
  takes: (model) => supportedFields(findImageRules(googleImageModels, model)),
  generate: (request, connection) =>
    withTimeLimit(connection, (signal) =>
      isImagen(request.model) ? predict(request, connection, signal) : generateContent(request, connection, signal),
    ),
  editing: {
    accepts: (model) => findImageRules(googleImageModels, model).edit ?? null,
    edit: (request, connection) => withTimeLimit(connection, (signal) => generateContent(request, connection, signal)),
  },
};

async function generateContent(
  request: ImageRequest & Partial<Pick<ImageEditRequest, 'image'>>,
  connection: ProviderConnection,
  signal: AbortSignal,
): Promise<ImageResult> {
  const { parameters, ignored } = geminiImageRequest(request);
  const { result } = await callGoogle(connection, signal, (client, options) =>
    client.models.generateContent({ ...parameters, config: { ...parameters.config, ...options } }),
  );
  const read = () => geminiImages(result, request, connection);
  return { ...(await keepUsage(() => googleReport(result), read)), ignored };
}

async function predict(
  request: ImageRequest,
  connection: ProviderConnection,
  signal: AbortSignal,
): Promise<ImageResult> {
  const { body, ignored } = imagenRequest(request);
  const made = await predictGoogle({ model: request.model, method: 'predict', body, signal }, connection);
  return { ...imagenImages(made, request, connection), ignored };
}

/** The parameters of the SDK's `models.generateContent`. */
export function geminiImageRequest(request: ImageRequest & Partial<Pick<ImageEditRequest, 'image'>>): {
  parameters: GenerateContentParameters;
  ignored: readonly string[];
} {
  const { wire: imageConfig, ignored } = writeImageFields(request, findImageRules(googleImageModels, request.model));
  const config = {
    responseModalities: [...geminiModalities(request.model)],
    ...(Object.keys(imageConfig).length > 0 && { imageConfig }),
  };
  const { image } = request;
  const source =
    image === undefined
      ? []
      : [{ inlineData: { mimeType: image.mimeType, data: Buffer.from(image.bytes).toString('base64') } }];
  return {
    parameters: {
      model: request.model,
      contents: [{ role: 'user', parts: [{ text: request.prompt }, ...source] }],
      config,
    },
    ignored,
  };
}

/** The body of Imagen's predict. */
export function imagenRequest(request: ImageRequest): { body: JsonObject; ignored: readonly string[] } {
  const { wire, ignored } = writeImageFields(request, findImageRules(googleImageModels, request.model));
  return {
    body: { instances: [{ prompt: request.prompt }], parameters: { sampleCount: request.n, ...wire } },
    ignored,
  };
}

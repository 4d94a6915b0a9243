import type { GenerateContentParameters } from '@google/genai';
import { findImageRules, writeImageFields } from '../images/image-rules.ts';
import type { JsonObject } from '../json.ts';
import type {
  ImageCapability,
  ImageEditing,
  ImageEditRequest,
  ImageRequest,
  ImageResult,
  ProviderConnection,
} from '../provider.ts';
import { keepUsage } from '../provider-errors.ts';
import { withTimeLimit } from '../time-limit.ts';
import { callGoogle, predictGoogle } from './google-client.ts';
import { geminiImages, imagenImages } from './google-images-response.ts';
import { googleImageModels } from './google-models.ts';
import { googleReport } from './google-response.ts';

/** Imagen uses `predict`, Gemini `generateContent`. */
function isImagen(model: string): boolean {
  return /^(models\/)?imagen/i.test(model);
}

/** Gemini 2.0 requires both modalities; later models could then return text only. */
function geminiModalities(model: string): readonly string[] {
  return /^(models\/)?gemini-2\.0/i.test(model) ? ['TEXT', 'IMAGE'] : ['IMAGE'];
}

/** Images with generateContent of `@google/genai`, and with Imagen's predict, which that package supports on Vertex AI only. */
export const generate: ImageCapability['generate'] = (request, connection) =>
  withTimeLimit(connection, (signal) =>
    isImagen(request.model) ? predict(request, connection, signal) : generateContent(request, connection, signal),
  );

export const edit: ImageEditing['edit'] = (request, connection) =>
  withTimeLimit(connection, (signal) => generateContent(request, connection, signal));

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

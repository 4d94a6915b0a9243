import { asRecord, isRecord } from '#plugin-api';
import { countTokens } from '../answer.ts';
import { recipeOf } from '../images/image-address.ts';
import { shapedSize } from '../images/image-size.ts';
import { drawPicture } from '../images/picture.ts';
import { readSource } from '../images/source-image.ts';
import { digest } from '../random.ts';
import { jsonResponse, Refusal } from '../fake.ts';
import type { FakeResponse, FakeRequest, FakeRoute } from '../fake.ts';
import { unknownModel, invalidArgument } from './google-request.ts';

const shapes = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'];
const imagenShapes = ['1:1', '3:4', '4:3', '9:16', '16:9'];
const edges: Readonly<Record<string, number>> = { '1K': 1024, '2K': 2048, '4K': 4096 };
/** Tokens of an output image. */
const imageTokens = 1290;

interface Config {
  readonly modalities: readonly string[];
  readonly image: Readonly<Record<string, unknown>>;
}

function configOf({ body }: FakeRequest): Config {
  const config = isRecord(body) ? (body['generationConfig'] ?? body['generation_config']) : undefined;
  const { responseModalities = [], imageConfig = {} } = asRecord(config);
  return {
    modalities: Array.isArray(responseModalities) ? responseModalities.map(String) : [],
    image: asRecord(imageConfig),
  };
}

/** Whether a generateContent request wants a picture. @throws Refusal when the model has none to give. */
export function wantsImage(request: FakeRequest): boolean {
  const { model = '' } = request.params;
  const { modalities } = configOf(request);
  if (modalities.length === 0) return /image/.test(model);
  if (modalities.includes('IMAGE') && /^gemini-[\d.]+-(?:flash|pro)(?:-lite)?$/.test(model))
    throw invalidArgument('Multi-modal output is not supported.');
  return modalities.includes('IMAGE');
}

/** The answer of a Gemini model that draws: a sentence where text was asked for too, then the picture. */
export function generateImage(request: FakeRequest, prompt: string): FakeResponse {
  const { model = '' } = request.params;
  const { modalities, image } = configOf(request);
  const { aspectRatio = '1:1', imageSize = '1K' } = image;
  if (typeof aspectRatio !== 'string' || !shapes.includes(aspectRatio))
    throw invalidArgument(`Invalid aspect ratio '${String(aspectRatio)}'. Supported values are: ${shapes.join(', ')}.`);
  const edge = edges[String(imageSize)];
  if (edge === undefined)
    throw invalidArgument(`Invalid image size '${String(imageSize)}'. Supported values are: 1K, 2K, 4K.`);
  const source = sourceOf(request);
  const seed = source === null ? request.seed : parseInt(digest('edit', request.seed, source).slice(0, 8), 16);
  const recipe = recipeOf({ prompt, ...shapedSize(aspectRatio, edge), index: 0, seed, model });
  const textParts = modalities.includes('TEXT') ? [{ text: 'Here is a picture drawn by the sandbox.' }] : [];
  const input = countTokens(prompt);
  return jsonResponse(200, {
    candidates: [
      {
        content: {
          parts: [
            ...textParts,
            { inlineData: { mimeType: 'image/png', data: drawPicture(recipe).toString('base64') } },
          ],
          role: 'model',
        },
        finishReason: 'STOP',
        index: 0,
      },
    ],
    usageMetadata: {
      promptTokenCount: input,
      candidatesTokenCount: imageTokens,
      totalTokenCount: input + imageTokens,
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: input }],
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: imageTokens }],
    },
    modelVersion: model,
    responseId: recipe.fingerprint.slice(0, 22),
  });
}

/** The image that is to be edited, in base64; null: there is none. @throws Refusal when it is no image. */
function sourceOf({ body }: FakeRequest): string | null {
  const contents: readonly unknown[] = isRecord(body) && Array.isArray(body['contents']) ? body['contents'] : [];
  const last = contents.at(-1);
  const parts: readonly unknown[] = isRecord(last) && Array.isArray(last['parts']) ? last['parts'] : [];
  const inline = parts
    .map((part) => (isRecord(part) ? (part['inlineData'] ?? part['inline_data']) : undefined))
    .find(isRecord);
  if (inline === undefined) return null;
  const data = typeof inline['data'] === 'string' ? inline['data'] : '';
  if (readSource(Buffer.from(data, 'base64')) === null)
    throw invalidArgument(
      'Unable to process input image. Please retry or report in https://developers.generativeai.google/guide/troubleshooting',
    );
  return data;
}

/** Imagen: up to four pictures of one prompt. */
function predict(request: FakeRequest): FakeResponse {
  const { model = '', version = 'v1beta' } = request.params;
  if (model.startsWith('missing-')) throw new Refusal(unknownModel(model, version, 'predict'));
  const { instances, parameters } = asRecord(request.body);
  const [instance] = Array.isArray(instances) ? (instances as unknown[]) : [];
  const prompt = isRecord(instance) ? instance['prompt'] : undefined;
  if (typeof prompt !== 'string' || prompt === '')
    throw invalidArgument('Request contains an invalid argument: instances[0].prompt is empty.');
  const { sampleCount = 4, aspectRatio = '1:1', sampleImageSize = '1K' } = asRecord(parameters);
  if (typeof sampleCount !== 'number' || !Number.isInteger(sampleCount) || sampleCount < 1 || sampleCount > 4)
    throw invalidArgument(
      'Image generation failed with the following error: sampleCount must be between 1 and 4, inclusive.',
    );
  if (typeof aspectRatio !== 'string' || !imagenShapes.includes(aspectRatio))
    throw invalidArgument(
      `Invalid aspect ratio '${String(aspectRatio)}'. Supported values are: ${imagenShapes.join(', ')}.`,
    );
  if (sampleImageSize !== '1K' && sampleImageSize !== '2K')
    throw invalidArgument('Invalid sampleImageSize. Supported values are: 1K, 2K.');
  const size = shapedSize(aspectRatio, edges[sampleImageSize] ?? 1024);
  return jsonResponse(200, {
    predictions: Array.from({ length: sampleCount }, (_, index) => ({
      mimeType: 'image/png',
      bytesBase64Encoded: drawPicture(recipeOf({ prompt, ...size, index, seed: request.seed, model })).toString(
        'base64',
      ),
    })),
  });
}

export const googleImageRoutes: readonly FakeRoute[] = [
  { method: 'POST', path: /^\/(?<version>v1|v1beta)\/models\/(?<model>[^/:]+):predict$/, handle: predict },
];

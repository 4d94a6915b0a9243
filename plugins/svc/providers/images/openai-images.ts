import type { ImageGenerateParamsNonStreaming } from 'openai/resources/images';
import { createChatClients } from '../chat-completions/chat-client.ts';
import type { ImageEditRequest, ImageRequest, SourceImage } from '../provider.ts';
import { usageIn } from '../json.ts';
import { keepUsage } from '../provider-errors.ts';
import { readJson, sdkTimeout, withTimeLimit } from '../time-limit.ts';
import { writeImageFields, type ImageCalls, type ImageRules } from './image-rules.ts';
import type { OpenAiImagesInit } from './openai-image-models.ts';
import { imageReport, imagesResponse } from './images-response.ts';

/** Images with OpenAI's `POST /images/generations` and `/images/edits`, using the `openai` package. */
export function createImageCalls({ access, rules }: OpenAiImagesInit): ImageCalls {
  const getClient = createChatClients();
  return {
    edit: (request, connection) =>
      withTimeLimit(connection, async (signal) => {
        const { form, ignored } = editForm(request, rules(request.model, connection.settings));
        const client = await getClient(access(connection.settings, request.model), connection);
        // Encoded here: for a form, the SDK would first send a test request to find out whether `fetch` supports it.
        const encoded = new Response(form);
        const body = new Uint8Array(await encoded.arrayBuffer());
        const headers = { 'content-type': encoded.headers.get('content-type') ?? '' };
        const response = await client
          .post('/images/edits', { body, headers, signal, timeout: sdkTimeout(connection) })
          .asResponse();
        return { ...(await readImages(response, request)), ignored };
      }),
    generate: (request, connection) =>
      withTimeLimit(connection, async (signal) => {
        const { model, prompt, n } = request;
        const { wire, ignored } = writeImageFields(request, rules(model, connection.settings));
        const client = await getClient(access(connection.settings, model), connection);
        // The SDK's type is OpenAI's alone; other vendors differ.
        const params = { model, prompt, n, ...wire } as ImageGenerateParamsNonStreaming;
        const response = await client.images.generate(params, { signal, timeout: sdkTimeout(connection) }).asResponse();
        return { ...(await readImages(response, request)), ignored };
      }),
  };
}

async function readImages(response: Response, request: Pick<ImageRequest, 'model'>) {
  const received = await readJson(response);
  return keepUsage(
    () => imageReport(usageIn(received)),
    () => imagesResponse(received, request),
  );
}

/** The form of `POST /images/edits`: fields as texts, images as files. */
function editForm(
  request: ImageEditRequest,
  rules: ImageRules,
): { readonly form: FormData; readonly ignored: readonly string[] } {
  const { model, prompt, n, image, mask } = request;
  const { wire, ignored } = writeImageFields(request, rules);
  const form = new FormData();
  for (const [name, value] of Object.entries({ model, prompt, n: String(n), ...wire })) form.append(name, value);
  form.append('image', fileOf(image), `image.${extensionOf(image)}`);
  if (mask !== undefined) form.append('mask', fileOf(mask), `mask.${extensionOf(mask)}`);
  return { form, ignored };
}

function fileOf({ bytes, mimeType }: SourceImage): Blob {
  return new Blob([bytes as Uint8Array<ArrayBuffer>], { type: mimeType });
}

function extensionOf({ mimeType }: SourceImage): string {
  return mimeType === 'image/jpeg' ? 'jpg' : mimeType.slice(mimeType.indexOf('/') + 1);
}

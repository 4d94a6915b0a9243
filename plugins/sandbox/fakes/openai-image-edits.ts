import { asRecord } from '#plugin-api';
import { digest } from '../random.ts';
import { readSource } from '../images/source-image.ts';
import { isFormFile, type FormFile } from '../multipart.ts';
import type { FakeResponse, FakeRequest } from '../fake.ts';
import { imageGenerations, refusals, type DrawingDialect } from './openai-images.ts';
import type { Refuse } from './openai-image-rules.ts';

const megabyte = 1024 * 1024;

/** Answers `POST .../images/edits` in OpenAI's format: a form with an image and perhaps a mask. Another image gives another picture. */
export function imageEdits(dialect: DrawingDialect, request: FakeRequest, model?: string): FakeResponse {
  const body = asRecord(request.body);
  const refuse = refusals(dialect);
  const name = String(model ?? body['model'] ?? 'gpt-image-1.5');
  if (/dall-?e-?3/i.test(name))
    throw refuse('model', "Invalid value: 'dall-e-3'. Value must be 'dall-e-2' or a GPT image model.");
  const isDallE = /dall-?e-?2/i.test(name);
  const image = readImage(body['image'], { refuse, isDallE });
  checkMask(body['mask'], image.source, refuse);
  const { image: _image, mask: _mask, ...fields } = body;
  const n = fields['n'] === undefined ? {} : { n: Number(fields['n']) };
  const seed = parseInt(digest('edit', request.seed, image.file.bytes.toString('base64')).slice(0, 8), 16);
  return imageGenerations(dialect, { ...request, seed, body: { ...fields, ...n } }, model);
}

function readImage(
  value: unknown,
  { refuse, isDallE }: { readonly refuse: Refuse; readonly isDallE: boolean },
): { readonly file: FormFile; readonly source: NonNullable<ReturnType<typeof readSource>> } {
  if (!isFormFile(value)) throw refuse('image', "Missing required parameter: 'image'.");
  const source = readSource(value.bytes);
  if (source === null || !['image/png', 'image/jpeg', 'image/webp'].includes(value.type))
    throw refuse(
      'image',
      "Invalid file 'image': unsupported mimetype. Supported file formats are 'image/jpeg', 'image/png', and 'image/webp'.",
    );
  if (isDallE && source.type !== 'png') throw refuse('image', 'Uploaded image must be a PNG and less than 4 MB.');
  if (isDallE && value.bytes.length >= 4 * megabyte)
    throw refuse('image', 'Uploaded image must be a PNG and less than 4 MB.');
  if (isDallE && source.width !== source.height) throw refuse('image', 'Uploaded image must be square.');
  return { file: value, source };
}

function checkMask(
  value: unknown,
  image: { readonly type: string; readonly width: number; readonly height: number },
  refuse: Refuse,
): void {
  if (value === undefined) return;
  const mask = isFormFile(value) ? readSource(value.bytes) : null;
  if (mask?.type !== 'png')
    throw refuse('mask', "Invalid file 'mask': the mask must be a PNG image with an alpha channel.");
  if (image.type === 'png' && (mask.width !== image.width || mask.height !== image.height))
    throw refuse('mask', 'Invalid mask image format - mask size does not match image size.');
}

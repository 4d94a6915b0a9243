import { type HostApi, invalidFields } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import type { ImageParams } from '../../../kit/image-params.ts';
import type { StoredImage } from '../store/image.ts';
import type { ImageJob, JobSource } from './image-job.ts';

/** Fields of a form or a command, unchecked. */
export type JobFields = Readonly<Record<string, unknown>>;

export interface JobFrame {
  readonly request: string;
  /** Owner of the images. 0: none. */
  readonly userId: number;
  readonly source?: JobSource | undefined;
}

const longestPrompt = 32_000;

/**
 * Reads the job of an administrator.
 *
 * @throws RestError 400 `rest_svc_empty_input` or `rest_invalid_param` with a sentence for each bad field.
 */
export function readJob(fields: JobFields, { request, userId, source }: JobFrame): ImageJob {
  const text = (name: string): string => (typeof fields[name] === 'string' ? fields[name].trim() : '');
  const prompt = text('prompt');
  if (prompt === '') throw errors.empty_input({ values: { name: 'The prompt' } });
  const n = fields['n'] === undefined || fields['n'] === '' ? 1 : Number(fields['n']);
  const choices = { quality: ['standard', 'hd'], style: ['vivid', 'natural'] };
  const invalid: Record<string, string> = {};
  if (prompt.length > longestPrompt) invalid['prompt'] = 'Use at most 32,000 characters.';
  if (text('provider') === '') invalid['provider'] = 'Choose a provider.';
  if (!Number.isInteger(n) || n < 1 || n > 10) invalid['n'] = 'Enter a number from 1 to 10.';
  if (text('size') !== '' && !/^[1-9]\d{0,4}x[1-9]\d{0,4}$/.test(text('size')))
    invalid['size'] = 'Enter the width and height in pixels, for example 1024x1024.';
  for (const [name, allowed] of Object.entries(choices))
    if (text(name) !== '' && !allowed.includes(text(name))) invalid[name] = `Use ${allowed.join(' or ')}.`;
  if (Object.keys(invalid).length > 0) throw invalidFields(invalid);
  const params = Object.fromEntries(
    ['size', 'quality', 'style'].flatMap((name) => (text(name) === '' ? [] : [[name, text(name)]])),
  ) as ImageParams;
  return {
    request,
    prompt,
    n,
    params,
    userId,
    sessionId: null,
    provider: text('provider'),
    origin: 'admin_image_generator',
    ...(text('model') !== '' && { model: text('model') }),
    ...(source !== undefined && { source }),
  };
}

type Parts = { readonly host: Pick<HostApi, 'content'> };

/** Reads an image of the history for editing. @throws RestError 404 when its file is missing. */
export async function sourceOfImage(
  parts: Parts,
  { id, mediaId }: Pick<StoredImage, 'id' | 'mediaId'>,
): Promise<JobSource> {
  return { ...(await sourceOfMedia(parts, mediaId)), parentId: id };
}

/** Reads an image of the media library for editing. */
export async function sourceOfMedia({ host }: Parts, mediaId: number): Promise<JobSource> {
  const image = Number.isInteger(mediaId) && mediaId > 0 ? await host.content.media.read(mediaId) : null;
  if (image === null) throw errors.image_not_found();
  return { image, mediaId, parentId: null };
}

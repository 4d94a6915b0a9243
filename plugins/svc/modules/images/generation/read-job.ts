import { type HostApi, type JsonSchema, withoutUndefined } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import { imageParamSchemas, promptSchemas, type ImageParams } from '../../../kit/image-params.ts';
import { readFields } from '../../../settings/field-value.ts';
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

const jobSchemas = {
  ...promptSchemas,
  n: { type: 'integer', title: 'Images', minimum: 1, maximum: 10 },
  ...imageParamSchemas,
} as const satisfies Record<string, JsonSchema>;

/**
 * Reads the job of an administrator.
 *
 * @throws RestError 400 `rest_svc_empty_input` or `rest_invalid_param` with a sentence for each bad field.
 */
export function readJob(fields: JobFields, { source, ...frame }: JobFrame): ImageJob {
  requirePrompt(fields);
  const { prompt, provider, model, n = 1, ...params } = readFields(jobSchemas, fields);
  return {
    ...frame,
    prompt: prompt.trim(),
    n,
    params: params as ImageParams,
    sessionId: null,
    provider,
    origin: 'admin_image_generator',
    ...withoutUndefined({ model, source }),
  };
}

/** @throws RestError 400 `rest_svc_empty_input` for a blank prompt (D5) */
export function requirePrompt({ prompt }: JobFields): void {
  if (typeof prompt !== 'string' || prompt.trim() === '') throw errors.empty_input({ values: { name: 'The prompt' } });
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

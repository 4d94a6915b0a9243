import type { HostApi } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import type { StoredImage } from '../store/image.ts';
import type { JobSource } from './image-job.ts';

type Parts = { readonly host: Pick<HostApi, 'content'> };

/** An image of the history, to be edited. @throws RestError 404 when its file is gone. */
export async function sourceOfImage(
  parts: Parts,
  { id, mediaId }: Pick<StoredImage, 'id' | 'mediaId'>,
): Promise<JobSource> {
  return { ...(await sourceOfMedia(parts, mediaId)), parentId: id };
}

/** The same of the media library. */
export async function sourceOfMedia({ host }: Parts, mediaId: number): Promise<JobSource> {
  const image = Number.isInteger(mediaId) && mediaId > 0 ? await host.content.media.read(mediaId) : null;
  if (image === null) throw errors.image_not_found();
  return { image, mediaId, parentId: null };
}

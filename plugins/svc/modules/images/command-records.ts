import type { JobFields } from './generation/read-job.ts';
import { toDollars } from '../../kit/dollars.ts';
import type { StoredImage } from './store/image.ts';

/** The request of a command. @throws Error with an example when there is none */
export function fieldsOf({ json }: Readonly<Record<string, unknown>>, example: string): JobFields {
  if (typeof json === 'object' && json !== null) return json as JobFields;
  throw new Error(`Write the request as JSON, for example: --json '${example}'`);
}

/** An image or video as commands print it. */
export function imageRecord(image: StoredImage): Readonly<Record<string, unknown>> {
  const {
    id,
    mediaId,
    url,
    mode,
    parentId,
    prompt,
    provider,
    providerId,
    model,
    origin,
    cost,
    bytes,
    mimeType,
    createdAt,
  } = image;
  return {
    id,
    media_id: mediaId,
    url,
    mode,
    parent_id: parentId,
    prompt,
    provider_id: providerId,
    provider,
    model,
    origin,
    cost: toDollars(cost),
    size: bytes,
    mime_type: mimeType,
    created_at: new Date(createdAt).toISOString(),
  };
}

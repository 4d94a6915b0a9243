import { foldText } from '../../../kit/fold-text.ts';
import type { ImageParams } from '../../../kit/image-params.ts';
import type { ImageMode, ImageOrigin, NewImage, StoredImage } from './image.ts';

/** PostgreSQL gives large numbers as text. */
type Large = number | string;

export interface ImageRow {
  readonly id: number;
  readonly request: string;
  readonly place: number;
  readonly status: 'kept' | 'pending';
  readonly media_id: number;
  readonly mode: ImageMode;
  readonly parent_id: number | null;
  readonly source_media_id: number | null;
  readonly origin: ImageOrigin;
  readonly prompt: string;
  readonly revised_prompt: string | null;
  readonly provider_id: string;
  readonly provider: string;
  readonly model: string;
  readonly asked: string;
  readonly url: string;
  readonly mime_type: string;
  readonly bytes: Large;
  readonly cost: Large | null;
  readonly usage: string | null;
  readonly user_id: Large;
  readonly session_id: string | null;
  readonly found_by: string;
  readonly created_at: Large;
}

export function rowOf(
  image: NewImage,
  { createdAt, status }: { readonly createdAt: number; readonly status: ImageRow['status'] },
): Omit<ImageRow, 'id'> {
  return {
    request: image.request,
    place: image.place,
    status,
    media_id: image.mediaId,
    mode: image.mode,
    parent_id: image.parentId,
    source_media_id: image.sourceMediaId,
    origin: image.origin,
    prompt: image.prompt,
    revised_prompt: image.revisedPrompt,
    provider_id: image.providerId,
    provider: image.provider,
    model: image.model,
    asked: JSON.stringify(image.asked),
    url: image.url,
    mime_type: image.mimeType,
    bytes: image.bytes,
    cost: image.cost,
    usage: image.usage === null ? null : JSON.stringify(image.usage),
    user_id: image.userId,
    session_id: image.sessionId,
    found_by: foldText(image.prompt),
    created_at: createdAt,
  };
}

export function imageOf(row: ImageRow): StoredImage {
  return {
    id: row.id,
    request: row.request,
    place: row.place,
    mediaId: row.media_id,
    mode: row.mode,
    parentId: row.parent_id,
    sourceMediaId: row.source_media_id,
    origin: row.origin,
    prompt: row.prompt,
    revisedPrompt: row.revised_prompt,
    providerId: row.provider_id,
    provider: row.provider,
    model: row.model,
    asked: JSON.parse(row.asked) as ImageParams,
    url: row.url,
    mimeType: row.mime_type,
    bytes: Number(row.bytes),
    cost: row.cost === null ? null : Number(row.cost),
    usage: row.usage === null ? null : (JSON.parse(row.usage) as Readonly<Record<string, unknown>>),
    userId: Number(row.user_id),
    sessionId: row.session_id,
    createdAt: Number(row.created_at),
  };
}

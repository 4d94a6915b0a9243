import type { Knex } from '#plugin-api';
import type { ImageParams } from '../../../kit/image-params.ts';

export const imageOrigins = ['admin_image_generator', 'frontend_image_generator', 'automated_task_images'] as const;
/** `source.origin` of the event (D17). */
export type ImageOrigin = (typeof imageOrigins)[number];

export type ImageMode = 'generate' | 'edit';

/** The owner of an image. None: user 0 without a session. */
export interface ImageOwner {
  /** 0: a guest, or no owner. */
  readonly userId: number;
  readonly sessionId: string | null;
}

/** One image of the history. */
export interface StoredImage extends ImageOwner {
  readonly id: number;
  /** Shared by the images of one request. */
  readonly request: string;
  /** Index within its request, from 0. */
  readonly position: number;
  /** @deprecated Alias of `position`. */
  readonly ['place']: number;
  readonly mediaId: number;
  readonly mode: ImageMode;
  /** The image it is a version of. */
  readonly parentId: number | null;
  /** Id of the edited image in the media library. */
  readonly sourceMediaId: number | null;
  readonly origin: ImageOrigin;
  readonly prompt: string;
  readonly revisedPrompt: string | null;
  readonly providerId: string;
  /** Display name (D6). */
  readonly provider: string;
  readonly model: string;
  readonly asked: ImageParams;
  /** Absolute address. */
  readonly url: string;
  readonly mimeType: string;
  readonly bytes: number;
  /** Its share of the cost of the request, in millionths of a US dollar. Null: no price is known. */
  readonly cost: number | null;
  /** Usage data of the provider for the whole request. */
  readonly usage: Readonly<Record<string, unknown>> | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

export type NewImage = Omit<StoredImage, 'id' | 'createdAt' | 'place'>;

export interface ImageFilter {
  /** Part of the prompt. Case and accents do not matter. */
  readonly search?: string | undefined;
  readonly origin?: ImageOrigin | undefined;
  readonly mode?: ImageMode | undefined;
  readonly providerId?: string | undefined;
  readonly model?: string | undefined;
  readonly userId?: number | undefined;
  readonly sessionId?: string | undefined;
}

export interface ImagePage {
  /** Maximum number of images, 1 or more. */
  readonly limit: number;
  /** Images older than this one. */
  readonly before?: number | undefined;
  /** Images newer than this one, starting right after it. */
  readonly after?: number | undefined;
}

/** A person, as `svc_personal_data_*` names them. */
export type ImagePerson = { readonly userId: number } | { readonly sessionId: string };

/** The history of images. Only `pending` and `stale` return pending images. */
export interface ImageStore {
  /** Stores the images of one request. */
  add(images: readonly NewImage[], init: { readonly pending: boolean }): Promise<StoredImage[]>;
  get(id: number): Promise<StoredImage | null>;
  ofRequest(request: string): Promise<StoredImage[]>;
  /** Newest first. Keyset pagination: the last page is as fast as the first. */
  list(filter: ImageFilter, page: ImagePage): Promise<StoredImage[]>;
  count(filter: ImageFilter): Promise<number>;
  /** Versions of an image, oldest first. */
  versions(id: number): Promise<StoredImage[]>;
  /** Models of the images in the history. */
  models(): Promise<readonly { readonly providerId: string; readonly model: string }[]>;
  /** Deletes the row of an image. Its versions stay, without a parent. False: there was none. */
  remove(id: number): Promise<boolean>;
  /** The same by id in the media library, for pending images too. */
  removeMedia(mediaId: number): Promise<boolean>;
  pending(request: string): Promise<StoredImage[]>;
  /** Adds the pending images of a request to the history, in a transaction. */
  commit(request: string, transaction: Knex.Transaction): Promise<void>;
  /** Images that have been pending since before a time, in milliseconds since the epoch. */
  stale(before: number, limit: number): Promise<StoredImage[]>;
  of(person: ImagePerson): Promise<StoredImage[]>;
}

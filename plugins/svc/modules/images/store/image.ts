import type { Knex } from '#plugin-api';
import type { ImageParams } from '../../../kit/image-params.ts';

export const imageOrigins = ['admin_image_generator', 'frontend_image_generator', 'automated_task_images'] as const;
/** `source.origin` of the event (D17): where an image was asked for. */
export type ImageOrigin = (typeof imageOrigins)[number];

export type ImageMode = 'generate' | 'edit';

/** Whose an image is. Nobody's: user 0 without a session. */
export interface ImageOwner {
  /** 0: a guest, or nobody. */
  readonly userId: number;
  readonly sessionId: string | null;
}

/** One image of the history. */
export interface StoredImage extends ImageOwner {
  readonly id: number;
  /** Shared by the images of one request. */
  readonly request: string;
  /** Among them, from 0. */
  readonly place: number;
  readonly mediaId: number;
  readonly mode: ImageMode;
  /** The image it is a version of. */
  readonly parentId: number | null;
  /** What was edited, in the media library. */
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
  /** Its share of what the request cost, in millionths of a US dollar; null where no price is known. */
  readonly cost: number | null;
  /** The provider's own data of the whole request. */
  readonly usage: Readonly<Record<string, unknown>> | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

export type NewImage = Omit<StoredImage, 'id' | 'createdAt'>;

export interface ImageFilter {
  /** Part of the prompt, without regard to case and accents. */
  readonly search?: string | undefined;
  readonly origin?: ImageOrigin | undefined;
  readonly mode?: ImageMode | undefined;
  readonly providerId?: string | undefined;
  readonly model?: string | undefined;
  readonly userId?: number | undefined;
  readonly sessionId?: string | undefined;
}

export interface ImagePage {
  /** Most images, 1 or more. */
  readonly limit: number;
  /** Images older than this one. */
  readonly before?: number | undefined;
  /** Images newer than this one, those right after it. */
  readonly after?: number | undefined;
}

/** A person, as `svc_personal_data_*` names them. */
export type ImagePerson = { readonly userId: number } | { readonly sessionId: string };

/** The history of images. What is `pending` is in none of its answers but those of `pending` and `stale`. */
export interface ImageStore {
  /** Stores the images of one request. */
  add(images: readonly NewImage[], init: { readonly pending: boolean }): Promise<StoredImage[]>;
  get(id: number): Promise<StoredImage | null>;
  ofMedia(mediaId: number): Promise<StoredImage | null>;
  ofRequest(request: string): Promise<StoredImage[]>;
  /** Newest first, from a place on: as quick on the last page as on the first. */
  list(filter: ImageFilter, page: ImagePage): Promise<StoredImage[]>;
  count(filter: ImageFilter): Promise<number>;
  /** Images that were made of one, oldest first. */
  versions(id: number): Promise<StoredImage[]>;
  /** Models that images were drawn by, with their provider's id, for choices of a form. */
  models(): Promise<readonly { readonly providerId: string; readonly model: string }[]>;
  /** Forgets an image; its versions stay, without a parent. Answers whether there was one. */
  remove(id: number): Promise<boolean>;
  /** The same by the entry of the media library, pending ones included. */
  removeMedia(mediaId: number): Promise<boolean>;
  pending(request: string): Promise<StoredImage[]>;
  /** Makes the pending images of a request part of the history, in a transaction. */
  keep(request: string, transaction: Knex.Transaction): Promise<void>;
  /** Pending ones made before a moment, in milliseconds since the epoch. */
  stale(before: number, limit: number): Promise<StoredImage[]>;
  of(person: ImagePerson): Promise<StoredImage[]>;
}

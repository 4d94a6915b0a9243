import type { ImageParams } from '../../../kit/image-params.ts';
import type { ImageOrigin, ImageOwner, StoredImage } from '../store/image.ts';

/** An image to edit. */
export interface JobSource {
  readonly image: Uint8Array;
  /** A PNG of the same size, transparent where the image may change. */
  readonly mask?: Uint8Array | undefined;
  /** Id in the media library, or null. */
  readonly mediaId: number | null;
  /** Id in the history, or null. */
  readonly parentId: number | null;
}

/** A request to generate images, or to edit one. */
export interface ImageJob extends ImageOwner {
  /** Unique, at most 100 characters. The key of its event (D19). */
  readonly request: string;
  readonly prompt: string;
  /** Id. */
  readonly provider: string;
  /** Default: the saved model of the provider. */
  readonly model?: string | undefined;
  /** 1 to 10. */
  readonly n: number;
  /** The settings supply omitted members. */
  readonly params: ImageParams;
  readonly origin: ImageOrigin;
  readonly source?: JobSource | undefined;
}

export interface JobResult {
  /** At least one. */
  readonly images: readonly StoredImage[];
  /** "2 images generated. 1 of 3 failed: ..." */
  readonly message: string;
  /** Display name of the provider that generated the images (D6). */
  readonly provider: string;
  readonly model: string;
  /** Of all images, in millionths of a US dollar. Null: no price is known. */
  readonly cost: number | null;
  /** Parameters that the model does not support. */
  readonly ignored: readonly string[];
}

import type { ImageParams } from '../../../kit/image-params.ts';
import type { ImageOrigin, ImageOwner, StoredImage } from '../store/image.ts';

/** An image to be edited. */
export interface JobSource {
  /** The file. */
  readonly image: Uint8Array;
  /** A PNG of the same size, transparent where something is to change. */
  readonly mask?: Uint8Array | undefined;
  /** In the media library; null: it is not there. */
  readonly mediaId: number | null;
  /** In the history; null: it was not made here. */
  readonly parentId: number | null;
}

/** Images that are to be drawn, or one that is to be edited. */
export interface ImageJob extends ImageOwner {
  /** Names this request and no other; at most 100 characters. The key of its event (D19). */
  readonly request: string;
  readonly prompt: string;
  /** Id. */
  readonly provider: string;
  /** Left out: the provider's saved one. */
  readonly model?: string | undefined;
  /** 1 to 10. */
  readonly n: number;
  /** What is left out is the settings' to say. */
  readonly params: ImageParams;
  readonly origin: ImageOrigin;
  readonly source?: JobSource | undefined;
}

/** What came of a job. */
export interface DrawnImages {
  /** At least one. */
  readonly images: readonly StoredImage[];
  /** "2 images generated. 1 of 3 failed: ..." */
  readonly message: string;
  /** Display name of the provider that answered (D6). */
  readonly provider: string;
  readonly model: string;
  /** Of all of them, in millionths of a US dollar; null where no price is known. */
  readonly cost: number | null;
  /** Fields that the model does not take. */
  readonly ignored: readonly string[];
}

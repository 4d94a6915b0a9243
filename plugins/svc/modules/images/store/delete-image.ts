import type { HostApi } from '#plugin-api';
import '../hooks.ts';
import type { ImageStore, StoredImage } from './image.ts';

/** Deletes an image with its file, from the history and from the media library. Its versions stay. */
export type DeleteImage = (image: StoredImage) => Promise<void>;

export function createDeleteImage({
  host,
  store,
}: {
  readonly host: Pick<HostApi, 'content' | 'hooks'>;
  readonly store: ImageStore;
}): DeleteImage {
  return async (image) => {
    // What was deleted there takes its row along; it may have been gone already.
    await host.content.media.delete(image.mediaId);
    await store.remove(image.id);
    await host.hooks.doActionAsync('svc_image_deleted', image);
  };
}

import type { ServiceContext } from '../../wiring.ts';
import { partsOf } from '../../kit/parts-of.ts';
import { createDrawing, type Drawing } from './draw/draw-images.ts';
import type { ImageStore } from './store/image.ts';
import { createImageStore } from './store/image-store.ts';
import { createDeleteImage, type DeleteImage } from './store/delete-image.ts';

/** What the routes, pages, commands and tasks of images share. One per context. */
export interface Images {
  readonly store: ImageStore;
  readonly drawing: Drawing;
  readonly deleteImage: DeleteImage;
}

/** The parts of images in this process, made when they are first asked for. */
export const imagesOf: (context: ServiceContext) => Images = partsOf(({ host, generateImages, editImages }) => {
  const store = createImageStore(host);
  return {
    store,
    drawing: createDrawing({ host, store, generateImages, editImages }),
    deleteImage: createDeleteImage({ host, store }),
  };
});

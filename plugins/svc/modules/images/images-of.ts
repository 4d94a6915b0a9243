import type { ServiceContext } from '../../context.ts';
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

const made = new WeakMap<ServiceContext, Images>();

/** The parts of images in this process, made when they are first asked for. */
export function imagesOf(context: ServiceContext): Images {
  const known = made.get(context);
  if (known !== undefined) return known;
  const { host, generateImages, editImages } = context;
  const store = createImageStore(host);
  const images: Images = { store, drawing: createDrawing({ host, store, generateImages, editImages }), deleteImage: createDeleteImage({ host, store }) };
  made.set(context, images);
  return images;
}

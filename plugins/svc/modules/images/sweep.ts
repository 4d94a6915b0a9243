import type { ServiceContext } from '../../wiring.ts';
import { imagesOf } from './images-of.ts';
import { visitorImagesOf } from './public/visitors-of.ts';

/** What nobody will come back for: images of work that was never completed, and requests whose node died. */
export async function sweepImages(context: ServiceContext): Promise<void> {
  const images = await imagesOf(context).drawing.sweep();
  if (images > 0) context.host.log.info('Images of work that was never completed were deleted.', { images });
  await visitorImagesOf(context).draws.sweep();
}

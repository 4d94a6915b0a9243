import type { GeneratedImages, GenerateImages, GenerateImagesInput } from './generate-images.ts';
import type { ImageSource } from './image-source.ts';

export interface EditImagesInput extends Omit<GenerateImagesInput, 'source'>, ImageSource {}

export type EditImages = (input: EditImagesInput) => Promise<GeneratedImages>;

/**
 * New versions of an image, as the prompt says; limits, tries, usage and form are those of generated ones.
 *
 * @throws RestError of D5, 400 `rest_svc_image_not_editable` where the model only draws, 400 `rest_svc_image_unusable`
 *   where it takes no such image or mask. Nothing was spent then.
 */
export function createEditImages({ generateImages }: { readonly generateImages: GenerateImages }): EditImages {
  return ({ image, mask, ...input }) =>
    generateImages({ ...input, source: { image, ...(mask !== undefined && { mask }) } });
}

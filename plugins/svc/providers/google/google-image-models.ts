import type { ImageModelTable, ImageRules } from '../images/image-rules.ts';
import type { ImageEditRules } from '../provider.ts';

const geminiShapes = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'];
/** In bytes: a request can have 20 MB, including the image in base64. Masks are not supported. */
const geminiEdit: ImageEditRules = {
  types: ['image/png', 'image/jpeg', 'image/webp'],
  most: 14 * 1_048_576,
  mask: false,
};
const gemini: Omit<ImageRules, 'size'> = {
  perCall: 1,
  quality: {},
  style: false,
  responseFormat: false,
  edit: geminiEdit,
};
const imagen: Omit<ImageRules, 'size' | 'perCall'> = { quality: {}, style: false, responseFormat: false };
const imagenSizes = { shapeName: 'aspectRatio', shapes: ['1:1', '3:4', '4:3', '9:16', '16:9'] };
const largeImagenSizes = { ...imagenSizes, tiers: { name: 'sampleImageSize', edges: { '1K': 1024, '2K': 2048 } } };

/**
 * Google's image models. Sizes map to the nearest aspect ratio and, from Gemini 3 and Imagen 4 on, to a resolution tier.
 * All return base64 only; none supports a quality or a style.
 */
export const googleImageModels: ImageModelTable = {
  models: [
    [/^imagen-4.*fast/, { ...imagen, perCall: 4, size: imagenSizes }],
    [/^imagen-4.*ultra/, { ...imagen, perCall: 1, size: largeImagenSizes }],
    [/^imagen-[4-9]/, { ...imagen, perCall: 4, size: largeImagenSizes }],
    [/^imagen/, { ...imagen, perCall: 4, size: imagenSizes }],
    [/^gemini-2\.0/, { ...gemini, size: null }],
    [/^gemini-2/, { ...gemini, size: { shapeName: 'aspectRatio', shapes: geminiShapes } }],
  ],
  others: {
    ...gemini,
    size: {
      shapeName: 'aspectRatio',
      shapes: geminiShapes,
      tiers: { name: 'imageSize', edges: { '1K': 1024, '2K': 2048, '4K': 4096 } },
    },
  },
};

/** Imagen uses `predict`, Gemini `generateContent`. */
export function isImagen(model: string): boolean {
  return /^(models\/)?imagen/i.test(model);
}

/** Gemini 2.0 requires both modalities; later models could then return text only. */
export function geminiModalities(model: string): readonly string[] {
  return /^(models\/)?gemini-2\.0/i.test(model) ? ['TEXT', 'IMAGE'] : ['IMAGE'];
}

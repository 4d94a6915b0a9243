import { DocumentError, type HostApi, type RestError } from '#plugin-api';
import { errors } from '../kit/errors.ts';
import type { Provider, ProviderSettings, SourceImage } from '../providers/provider.ts';
import { imageBytes } from './image-bytes.ts';
import type { parsePixels, Pixels } from './pixels.reader.ts';

/** An image to edit, unchecked. */
export interface ImageSource {
  /** The file. */
  readonly image: Uint8Array;
  /** A PNG of the same size; its transparent areas are edited. */
  readonly mask?: Uint8Array | undefined;
}

export interface EditingModel {
  readonly provider: Provider;
  readonly model: string;
  readonly settings: ProviderSettings;
  readonly host: Pick<HostApi, 'documents'>;
}

export interface UsableSource {
  readonly image: SourceImage;
  readonly mask?: SourceImage;
}

const types: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
};

/**
 * Checks the bytes of an image and its mask against what a model accepts.
 *
 * @throws RestError 400 `rest_svc_image_not_editable`, `rest_svc_image_unusable`.
 */
export async function usableSource(
  { image, mask }: ImageSource,
  { provider, model, settings, host }: EditingModel,
): Promise<UsableSource> {
  const rules = provider.images?.editing?.accepts(model, settings) ?? null;
  if (rules === null) throw errors.image_not_editable({ values: { provider: provider.label, model } });
  const refuse = (reason: string): RestError => errors.image_unusable({ values: { reason } });
  const source = sourceOf(image) ?? sourceError('The image', refuse);
  if (!rules.types.includes(source.mimeType))
    throw refuse(`${model} edits ${namesOf(rules.types)} images, and this is ${namesOf([source.mimeType])}.`);
  if (image.length > rules.most)
    throw refuse(
      `${model} takes images of at most ${megabytes(rules.most)} MB, and this one has ${megabytes(image.length)}.`,
    );
  if (mask === undefined && rules.square !== true) return { image: source };
  const size = await pixelsOf(host, image);
  if (rules.square === true && size !== null && size.width !== size.height)
    throw refuse(
      `${model} edits square images alone, and this one has ${String(size.width)} by ${String(size.height)} pixels.`,
    );
  if (mask === undefined) return { image: source };
  if (!rules.mask)
    throw refuse(`${model} takes no mask. Say in the prompt what is to change, or choose another model.`);
  const area = sourceOf(mask) ?? sourceError('The mask', refuse);
  if (area.mimeType !== 'image/png') throw refuse('The mask must be a PNG image. Its transparent areas are edited.');
  if (mask.length >= 4 * 1_048_576) throw refuse('The mask must be smaller than 4 MB.');
  const covered = await pixelsOf(host, mask);
  if (size !== null && covered !== null && (size.width !== covered.width || size.height !== covered.height)) {
    throw refuse(
      `The mask has ${String(covered.width)} by ${String(covered.height)} pixels, and the image ` +
        `${String(size.width)} by ${String(size.height)}. Make them equal.`,
    );
  }
  return { image: source, mask: area };
}

function sourceOf(bytes: Uint8Array): SourceImage | null {
  try {
    const { extension } = imageBytes(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    return { bytes, mimeType: types[extension] ?? 'application/octet-stream' };
  } catch {
    return null;
  }
}

function sourceError(what: string, refuse: (reason: string) => RestError): never {
  throw refuse(`${what} is no PNG, JPEG, GIF, WebP or AVIF file.`);
}

/** Null if the size cannot be read; then the provider decides. */
async function pixelsOf({ documents }: Pick<HostApi, 'documents'>, bytes: Uint8Array): Promise<Pixels | null> {
  try {
    return await documents.read<typeof parsePixels>({
      module: new URL('./pixels.reader.ts', import.meta.url),
      reader: 'parsePixels',
      input: { bytes },
    });
  } catch (error) {
    if (error instanceof DocumentError) return null;
    throw error;
  }
}

function namesOf(mimeTypes: readonly string[]): string {
  const names = mimeTypes.map((type) => type.replace('image/', '').toUpperCase());
  return names.length < 2 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} and ${String(names.at(-1))}`;
}

function megabytes(bytes: number): string {
  return String(Math.round((bytes / 1_048_576) * 10) / 10);
}

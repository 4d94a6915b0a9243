import { formatMoney, type HostApi } from '#plugin-api';
import type { StoredImage } from '../store/image.ts';
import { imageSlug } from '../image-names.ts';

export interface ImageTile {
  readonly id: number;
  /** Null: the file is missing. */
  readonly path: string | null;
  /** Empty if it only repeats the prompt, which is shown below. */
  readonly alt: string;
  readonly prompt: string;
  readonly href: string;
  readonly model: string;
  readonly costText: string;
  readonly createdAt: number;
  /** Empty for images of administrators. */
  readonly origin: string;
  readonly isEdit: boolean;
  readonly isVideo: boolean;
}

const origins = {
  admin_image_generator: '',
  frontend_image_generator: 'Visitor',
  automated_task_images: 'Automation',
} as const;

export async function imageTiles(
  host: Pick<HostApi, 'content' | 'admin'>,
  images: readonly StoredImage[],
): Promise<ImageTile[]> {
  return Promise.all(
    images.map(async (image) => {
      const media = await host.content.media.get(image.mediaId);
      const alt = media?.alt ?? '';
      return {
        id: image.id,
        path: media === null ? null : pathOf(media.url),
        alt: alt === shorten(image.prompt, 250) ? '' : alt,
        prompt: shorten(image.prompt, 120),
        href: `${new URL(host.admin.url(imageSlug)).pathname}?id=${String(image.id)}`,
        model: image.model,
        costText: costText(image.cost),
        createdAt: image.createdAt,
        origin: origins[image.origin],
        isEdit: image.mode === 'edit',
        isVideo: image.mimeType.startsWith('video/'),
      };
    }),
  );
}

/** A path, because a page may be open under another host name of the site. */
export function pathOf(url: string): string {
  return new URL(url).pathname;
}

export function costText(cost: number | null): string {
  return cost === null ? 'Price unknown' : formatMoney(cost);
}

function shorten(text: string, max: number): string {
  const characters = [...text.replace(/\s+/g, ' ').trim()];
  return characters.length > max ? `${characters.slice(0, max - 1).join('')}…` : characters.join('');
}

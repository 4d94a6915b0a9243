import { formatMoney, type HostApi } from '#plugin-api';
import type { StoredImage } from '../store/image.ts';
import { imageSlug } from '../image-names.ts';

/** An image in a grid. */
export interface ImageTile {
  readonly id: number;
  /** Path; null: its file is gone. */
  readonly path: string | null;
  /** Empty where it only repeats the prompt, which stands below. */
  readonly alt: string;
  readonly prompt: string;
  readonly href: string;
  readonly model: string;
  readonly costText: string;
  readonly madeAt: number;
  /** Where it comes from, unless an administrator had it drawn. */
  readonly from: string;
  readonly isEdit: boolean;
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
      const said = media?.alt ?? '';
      return {
        id: image.id,
        path: media === null ? null : pathOf(media.url),
        alt: said === shortened(image.prompt, 250) ? '' : said,
        prompt: shortened(image.prompt, 120),
        href: `${new URL(host.admin.url(imageSlug)).pathname}?id=${String(image.id)}`,
        model: image.model,
        costText: costText(image.cost),
        madeAt: image.createdAt,
        from: origins[image.origin],
        isEdit: image.mode === 'edit',
      };
    }),
  );
}

/** Pages load what the site itself serves, under whichever of its names they are looked at. */
export function pathOf(url: string): string {
  return new URL(url).pathname;
}

export function costText(cost: number | null): string {
  return cost === null ? 'no price' : formatMoney(cost);
}

function shortened(text: string, longest: number): string {
  const characters = [...text.replace(/\s+/g, ' ').trim()];
  return characters.length > longest ? `${characters.slice(0, longest - 1).join('')}…` : characters.join('');
}

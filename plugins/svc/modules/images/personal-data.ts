import type { ServiceContext } from '../../wiring.ts';
import { imagesOf } from './images-of.ts';
import type { ImagePerson, StoredImage } from './store/image.ts';
import { visitorImagesOf } from './public/visitors-of.ts';

interface PersonalRecord {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

type Counts = Readonly<Record<string, number>>;
/** As `svc_personal_data_*` name a person. */
type Named = { readonly userId: number } | { readonly email: string } | { readonly sessionId: string };

/** What visitors had drawn, and what they asked for. What an administrator drew for the site is the site's. */
export async function exportImages(
  context: ServiceContext,
  records: readonly PersonalRecord[],
  named: Named,
): Promise<readonly PersonalRecord[]> {
  const person = await personOf(context, named);
  if (person === null) return records;
  const images = await ownImages(context, person);
  const requests = await visitorImagesOf(context).requests.of(person);
  return [
    ...records,
    ...images.map(({ id, prompt, url, provider, model, createdAt }) => ({
      type: 'image',
      data: { id, prompt, url, provider, model, created_at: new Date(createdAt).toISOString() },
    })),
    ...requests.map(({ id, prompt, state, createdAt }) => ({
      type: 'image_request',
      data: { id, prompt, state, created_at: new Date(createdAt).toISOString() },
    })),
  ];
}

export async function eraseImages(context: ServiceContext, counts: Counts, named: Named): Promise<Counts> {
  const person = await personOf(context, named);
  if (person === null) return counts;
  const images = await ownImages(context, person);
  for (const image of images) await imagesOf(context).deleteImage(image);
  const requests = await visitorImagesOf(context).requests.eraseOf(person);
  return { ...counts, images: images.length, image_requests: requests };
}

async function ownImages(context: ServiceContext, person: ImagePerson): Promise<readonly StoredImage[]> {
  return (await imagesOf(context).store.of(person)).filter(({ origin }) => origin === 'frontend_image_generator');
}

async function personOf({ host }: ServiceContext, named: Named): Promise<ImagePerson | null> {
  if ('email' in named) {
    const user = await host.users.find(named.email);
    return user === null ? null : { userId: user.id };
  }
  return 'userId' in named && named.userId < 1 ? null : named;
}

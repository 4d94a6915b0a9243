import type { Images } from './images.ts';
import type { ImagePerson, StoredImage } from './store/image.ts';
import type { HostApi } from '#plugin-api';
import type { PersonalRecord } from '../../kit/table-reads.ts';
import { imageTables } from './image-tables.ts';

interface DeletedMedia {
  readonly media_id: number;
  readonly mime_type: string;
  /** Bytes. */
  readonly size: number;
}

type Counts = Readonly<Record<string, number>>;
type Records = readonly PersonalRecord[];
/** A person, as `svc_personal_data_*` pass it. */
type PersonQuery = { readonly userId: number } | { readonly email: string } | { readonly sessionId: string };

/** Images and requests of visitors. Images that administrators generate belong to the site. */
export async function exportImages(parts: Images, records: Records, query: PersonQuery): Promise<Records> {
  const person = await personOf(parts, query);
  if (person === null) return records;
  const images = await ownImages(parts, person);
  const requests = await parts.requests.of(person);
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

/** Returns the numbers of deleted records, and the files that were deleted from the media library. */
export async function eraseImages(
  parts: Images,
  query: PersonQuery,
): Promise<{ readonly counts: Counts; readonly media: readonly DeletedMedia[] }> {
  const person = await personOf(parts, query);
  if (person === null) return { counts: {}, media: [] };
  const images = await ownImages(parts, person);
  const media: DeletedMedia[] = [];
  for (const image of images) {
    await parts.deleteImage(image);
    media.push({ media_id: image.mediaId, mime_type: image.mimeType, size: image.bytes });
  }
  const requests = await parts.requests.eraseOf(person);
  return { counts: { images: images.length, image_requests: requests }, media };
}

async function ownImages(parts: Images, person: ImagePerson): Promise<readonly StoredImage[]> {
  return (await parts.store.of(person)).filter(({ origin }) => origin === 'frontend_image_generator');
}

async function personOf({ host }: Images, query: PersonQuery): Promise<ImagePerson | null> {
  if ('email' in query) {
    const user = await host.users.find(query.email);
    return user === null ? null : { userId: user.id };
  }
  return 'userId' in query && query.userId < 1 ? null : query;
}

/** In the transaction that deletes a user: the heir gets the images. Without an heir they have no owner. */
export async function reassignImages(
  { database }: Pick<HostApi, 'database'>,
  { id, heir }: { readonly id: number; readonly heir: number | null },
): Promise<void> {
  await database.transaction(async (transaction) => {
    await transaction(imageTables.images)
      .where({ user_id: id })
      .update({ user_id: heir ?? 0, session_id: null });
    await transaction(imageTables.requests).where({ user_id: id }).update({ user_id: 0, session_id: null });
  });
}

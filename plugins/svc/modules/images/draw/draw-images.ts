import type { HostApi, Knex, Logger } from '#plugin-api';
import type { GeneratedImages } from '../../../ai/generate-images.ts';
import type { UsageOrigin } from '../../../kit/usage-origin.ts';
import type { ServiceContext } from '../../../wiring.ts';
import '../hooks.ts';
import type { ImageStore, NewImage, StoredImage } from '../store/image.ts';
import { sendImageEvent } from './image-event.ts';
import type { DrawnImages, ImageJob } from './image-job.ts';

export interface DrawOptions {
  readonly signal?: AbortSignal | undefined;
  /** For the usage ledger; default: this module. */
  readonly usage?: UsageOrigin | undefined;
  /** Told how many images are there so far, as they come. */
  readonly onImage?: ((made: number) => void) | undefined;
}

export interface Drawing {
  /**
   * Draws, and keeps images, history and event together or not at all. Images that cannot be kept go again.
   *
   * @throws RestError of D5, or what `svc_image_job` refuses with.
   */
  draw(job: ImageJob, options?: DrawOptions): Promise<DrawnImages>;
  /**
   * Draws and keeps the images aside: in nobody's history, without an event, until `commit`. Asked again for the same
   * request it answers what there is and draws nothing: what was paid for once is not paid for again.
   */
  prepare(job: ImageJob, options?: DrawOptions): Promise<DrawnImages>;
  /** Makes what was prepared part of the history and sends its event, in the transaction. */
  commit(request: string, transaction: Knex.Transaction): Promise<readonly StoredImage[]>;
  /** Deletes what was prepared more than a day ago and never committed. Answers how many images. */
  sweep(): Promise<number>;
}

export interface DrawingParts {
  readonly host: Pick<HostApi, 'content' | 'hooks' | 'database' | 'clock'> & { readonly log: Logger };
  readonly store: ImageStore;
  readonly generateImages: ServiceContext['generateImages'];
  readonly editImages: ServiceContext['editImages'];
}

const ownUsage: UsageOrigin = { module: 'images', route: null, botId: null };
const day = 24 * 3600_000;

export function createDrawing(parts: DrawingParts): Drawing {
  const { host, store } = parts;

  async function make(
    given: ImageJob,
    options: DrawOptions,
  ): Promise<{ readonly job: ImageJob; readonly result: GeneratedImages }> {
    try {
      const job = await host.hooks.applyFiltersAsync('svc_image_job', given);
      return { job, result: await ask(parts, job, options) };
    } catch (error) {
      await host.hooks.doActionAsync('svc_image_failed', error, given);
      throw error;
    }
  }

  /** Images that nobody would ever find must not fill the media library. */
  async function keep<T>(result: GeneratedImages, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      await removeMedia(
        host,
        result.images.map(({ media }) => media?.id ?? 0),
      );
      throw error;
    }
  }

  return {
    async draw(given, options = {}) {
      const { job, result } = await make(given, options);
      const images = await keep(result, () =>
        host.database.transaction(async () => {
          const added = await store.add(newImages(job, result), { pending: false });
          await sendImageEvent(host, added);
          return added;
        }),
      );
      await host.hooks.doActionAsync('svc_image_generated', images, job);
      return drawn(images, result);
    },
    async prepare(given, options = {}) {
      const found = await store.pending(given.request);
      if (found.length > 0) return foundImages(found);
      const { job, result } = await make(given, options);
      const images = await keep(result, () => store.add(newImages(job, result), { pending: true }));
      return drawn(images, result);
    },
    async commit(request, transaction) {
      const images = await store.pending(request);
      await store.keep(request, transaction);
      await sendImageEvent(host, images);
      host.database.afterCommit(() => void host.hooks.doActionAsync('svc_image_generated', images, null));
      return images;
    },
    async sweep() {
      const images = await store.stale(host.clock.now() - day, 500);
      await removeMedia(
        host,
        images.map(({ mediaId }) => mediaId),
      );
      for (const { id } of images) await store.remove(id);
      return images.length;
    },
  };
}

function ask(
  { generateImages, editImages }: DrawingParts,
  job: ImageJob,
  { signal, usage = ownUsage, onImage }: DrawOptions,
): Promise<GeneratedImages> {
  const { prompt, provider, model, n, params, userId, source } = job;
  const input = {
    ...params,
    prompt,
    provider,
    model,
    n,
    userId,
    signal,
    onImage,
    form: 'media' as const,
    origin: usage,
  };
  return source === undefined
    ? generateImages(input)
    : editImages({ ...input, image: source.image, mask: source.mask });
}

function newImages(job: ImageJob, { images, usage, cost, provider, providerId, model }: GeneratedImages): NewImage[] {
  const { request, prompt, params, origin, userId, sessionId, source } = job;
  return images.flatMap(({ media, revised_prompt }, place) =>
    media === null
      ? []
      : [
          {
            request,
            place,
            prompt,
            origin,
            userId,
            sessionId,
            provider,
            providerId,
            model,
            usage,
            mode: source === undefined ? ('generate' as const) : ('edit' as const),
            mediaId: media.id,
            url: media.url,
            mimeType: media.mimeType,
            bytes: media.size,
            parentId: source?.parentId ?? null,
            sourceMediaId: source?.mediaId ?? null,
            revisedPrompt: revised_prompt,
            asked: params,
            cost: cost === null ? null : shareOf(cost, { place, of: images.length }),
          },
        ],
  );
}

/** Whole millionths that add up again: the first ones get what is over. */
function shareOf(cost: number, { place, of }: { readonly place: number; readonly of: number }): number {
  return Math.floor(cost / of) + (place < cost % of ? 1 : 0);
}

function drawn(
  images: readonly StoredImage[],
  { message, provider, model, cost, ignored }: GeneratedImages,
): DrawnImages {
  return { images, message, provider, model, cost, ignored };
}

function foundImages(images: readonly StoredImage[]): DrawnImages {
  const [{ provider, model } = { provider: '', model: '' }] = images;
  const costs = images.map(({ cost }) => cost);
  const cost = costs.every((one) => one !== null) ? costs.reduce((sum, one) => sum + one, 0) : null;
  return {
    images,
    message: `${String(images.length)} ${images.length === 1 ? 'image' : 'images'} generated.`,
    provider,
    model,
    cost,
    ignored: [],
  };
}

async function removeMedia({ content, log }: DrawingParts['host'], ids: readonly number[]): Promise<void> {
  for (const id of ids) {
    await content.media.delete(id).catch((error: unknown) => {
      log.error('An image that could not be kept stays in the media library.', { media: id, error });
    });
  }
}

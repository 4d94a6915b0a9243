import type { HostApi, Knex, Logger } from '#plugin-api';
import type { GeneratedImages } from '../../../ai/generate-images.ts';
import { emitImageEvent } from '../../../kit/emit-image-event.ts';
import type { UsageOrigin } from '../../../kit/usage-origin.ts';
import type { ImagesPort } from '../../../ports.ts';
import '../hooks.ts';
import type { ImageStore, NewImage, StoredImage } from '../store/image.ts';
import type { ImageJob, JobResult } from './image-job.ts';

export interface GenerateOptions {
  readonly signal?: AbortSignal | undefined;
  /** For the usage ledger. Default: this module, for the owner of the images. */
  readonly usage?: UsageOrigin | undefined;
  /** Called with the number of images so far, as they arrive. */
  readonly onImage?: ((count: number) => void) | undefined;
  /** Runs the transaction that stores the images. Default: a transaction of the database. */
  readonly transaction?: (store: () => Promise<JobResult>) => Promise<JobResult>;
}

export interface ImageGenerator {
  /**
   * Generates or edits, then stores images, history and event in one transaction. Images that cannot be stored are deleted.
   *
   * @throws RestError of D5, or what `svc_image_job` throws.
   */
  generate(job: ImageJob, options?: GenerateOptions): Promise<JobResult>;
  /**
   * Generates and stores the images as pending: outside the history and without an event until `commit`. A second call for
   * the same request returns the pending images and costs nothing.
   */
  prepare(job: ImageJob, options?: GenerateOptions): Promise<JobResult>;
  /** Adds the pending images to the history and sends their event, in the transaction. */
  commit(request: string, transaction: Knex.Transaction): Promise<readonly StoredImage[]>;
  /** Deletes images that have been pending for more than a day. Returns their number. */
  sweep(): Promise<number>;
}

export interface ImageGeneratorParts extends Pick<ImagesPort, 'generateImages' | 'editImages'> {
  readonly host: Pick<HostApi, 'content' | 'hooks' | 'database' | 'clock'> & { readonly log: Logger };
  readonly store: ImageStore;
}

const day = 24 * 3600_000;

export function createImageGenerator(parts: ImageGeneratorParts): ImageGenerator {
  const { host, store } = parts;

  async function run(
    given: ImageJob,
    options: GenerateOptions,
  ): Promise<{ readonly job: ImageJob; readonly generated: GeneratedImages }> {
    try {
      const job = await host.hooks.applyFiltersAsync('svc_image_job', given);
      return { job, generated: await callProvider(parts, job, options) };
    } catch (error) {
      await host.hooks.doActionAsync('svc_image_failed', error, given);
      throw error;
    }
  }

  async function orDeleteMedia<T>({ images }: GeneratedImages, store: () => Promise<T>): Promise<T> {
    try {
      return await store();
    } catch (error) {
      await deleteMedia(
        host,
        images.map(({ media }) => media?.id ?? 0),
      );
      throw error;
    }
  }

  return {
    async generate(given, options = {}) {
      const { transaction = (work) => host.database.transaction(work) } = options;
      const { job, generated } = await run(given, options);
      const result = await orDeleteMedia(generated, () =>
        transaction(async () => {
          const added = await store.add(newImages(job, generated), { pending: false });
          await sendImageEvent(host, added);
          return resultOf(added, generated);
        }),
      );
      await host.hooks.doActionAsync('svc_image_generated', result.images, job);
      return result;
    },
    async prepare(given, options = {}) {
      const pending = await store.pending(given.request);
      if (pending.length > 0) return pendingResult(pending);
      const { job, generated } = await run(given, options);
      const images = await orDeleteMedia(generated, () => store.add(newImages(job, generated), { pending: true }));
      return resultOf(images, generated);
    },
    async commit(request, transaction) {
      const images = await store.pending(request);
      await store.commit(request, transaction);
      await sendImageEvent(host, images);
      host.database.afterCommit(() => void host.hooks.doActionAsync('svc_image_generated', images, null));
      return images;
    },
    async sweep() {
      const images = await store.stale(host.clock.now() - day, 500);
      await deleteMedia(
        host,
        images.map(({ mediaId }) => mediaId),
      );
      for (const { id } of images) await store.remove(id);
      return images.length;
    },
  };
}

function callProvider(
  { generateImages, editImages }: ImageGeneratorParts,
  job: ImageJob,
  { signal, usage, onImage }: GenerateOptions,
): Promise<GeneratedImages> {
  const { prompt, provider, model, n, params, userId, source, origin } = job;
  const input = {
    ...params,
    prompt,
    provider,
    model,
    n,
    userId,
    signal,
    onImage,
    isPrivate: origin === 'frontend_image_generator',
    form: 'media' as const,
    origin: usage ?? { module: 'images', route: null, botId: null, userId },
  };
  return source === undefined
    ? generateImages(input)
    : editImages({ ...input, image: source.image, mask: source.mask });
}

function newImages(job: ImageJob, { images, usage, cost, provider, providerId, model }: GeneratedImages): NewImage[] {
  const { request, prompt, params, origin, userId, sessionId, source } = job;
  return images.flatMap(({ media, revised_prompt }, position) =>
    media === null
      ? []
      : [
          {
            request,
            position,
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
            cost: cost === null ? null : shareOf(cost, { position, count: images.length }),
          },
        ],
  );
}

/** Whole millionths whose sum is the cost: the first images get the remainder. */
export function shareOf(
  cost: number,
  { position, count }: { readonly position: number; readonly count: number },
): number {
  return Math.floor(cost / count) + (position < cost % count ? 1 : 0);
}

function resultOf(
  images: readonly StoredImage[],
  { message, provider, model, cost, ignored }: GeneratedImages,
): JobResult {
  return { images, message, provider, model, cost, ignored };
}

function pendingResult(images: readonly StoredImage[]): JobResult {
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

/** Deletes files that are not used. Never throws. */
export async function deleteMedia(
  { content, log }: Pick<ImageGeneratorParts['host'], 'content' | 'log'>,
  ids: readonly number[],
): Promise<void> {
  for (const id of ids) {
    await content.media.delete(id).catch((error: unknown) => {
      log.error('Failed to delete an unused image from the media library', {
        event: 'unused_image_not_deleted',
        media: id,
        error,
      });
    });
  }
}

/** Sends `image.generated` once per request, which is its idempotency key (contract 6.5, D17 to D19). */
export async function sendImageEvent({ hooks }: Pick<HostApi, 'hooks'>, images: readonly StoredImage[]): Promise<void> {
  const [image] = images;
  if (image === undefined) return;
  await emitImageEvent(hooks, {
    ...image,
    mediaType: image.mimeType.startsWith('video/') ? 'video' : 'image',
    files: images.map(({ url, mediaId, bytes, mimeType, revisedPrompt }) => ({
      media_id: mediaId,
      url,
      size: bytes,
      mime_type: mimeType,
      revised_prompt: revisedPrompt,
    })),
  });
}

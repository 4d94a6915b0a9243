import type { Images } from '../images.ts';
import { randomUUID } from 'node:crypto';
import { RestError, type AdminActionResult, type AdminRequest, fieldErrorsOf } from '#plugin-api';
import { writeEvent } from '../../../kit/server-sent-events.ts';
import type { JobResult, ImageJob } from '../generation/image-job.ts';
import { imagesSlug } from '../image-names.ts';
import { imageTiles } from './image-tile.ts';

export interface GenerateAction {
  readonly job: ImageJob;
  /** The page to show without JavaScript, once the images are generated. */
  readonly redirect?: ((result: JobResult) => string) | undefined;
}

/**
 * Runs a job for a page. With JavaScript the response is a stream: `progress` as images arrive, then `done` or `failed`. The
 * job continues when the visitor leaves the page, because it is already paid for.
 */
export async function generateAction(
  parts: Images,
  request: Pick<AdminRequest, 'headers'>,
  { job, redirect }: GenerateAction,
): Promise<AdminActionResult> {
  if (request.headers['accept']?.includes('text/event-stream') === true) {
    return {
      download: { name: 'images.txt', type: 'text/event-stream; charset=utf-8', content: progressStream(parts, job) },
    };
  }
  const result = await parts.generator.generate(job);
  const notice = {
    kind: result.images.length < job.n ? ('warning' as const) : ('success' as const),
    text: withIgnored(result),
  };
  return { notice, redirect: redirect?.(result) ?? `${imagesSlug}?request=${job.request}` };
}

/** Interval of the comments that keep the connection open, in milliseconds. */
const keepAliveInterval = 10_000;

async function* progressStream(parts: Images, job: ImageJob): AsyncGenerator<string> {
  const { clock, log } = parts.host;
  let made = 0;
  let reported = -1;
  let wake: () => void = () => undefined;
  const onImage = (count: number): void => {
    made = count;
    wake();
  };
  let isOver = false;
  const work = parts.generator
    .generate(job, { onImage })
    .then(
      (result) => doneEvent(parts, result),
      (error: unknown) => {
        if (!(error instanceof RestError))
          log.error('Image generation failed', { event: 'image_generation_failed', error });
        return failedEvent(error);
      },
    )
    .finally(() => {
      isOver = true;
      wake();
    });
  while (!isOver) {
    yield made === reported ? ': \n\n' : writeEvent({ event: 'progress', data: { made, of: job.n } });
    reported = made;
    if (isOver as boolean) break;
    await new Promise<void>((resolve) => {
      const cancel = clock.after(keepAliveInterval, resolve);
      wake = () => {
        cancel();
        resolve();
      };
    });
  }
  yield writeEvent(await work);
}

async function doneEvent({ host }: Images, result: JobResult) {
  return {
    event: 'done',
    data: { message: withIgnored(result), cost: result.cost, images: await imageTiles(host, result.images) },
  };
}

function failedEvent(error: unknown) {
  const message = error instanceof RestError ? error.message : 'Image generation failed. The log has the cause.';
  return { event: 'failed', data: { message, errors: fieldErrorsOf(error) ?? {} } };
}

function withIgnored({ message, ignored, model }: JobResult): string {
  return ignored.length === 0 ? message : `${message} ${model} ignores ${ignored.join(' and ')}.`;
}

export function newRequest(): string {
  return randomUUID();
}

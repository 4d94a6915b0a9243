import { randomUUID } from 'node:crypto';
import { RestError, type AdminActionResult, type AdminRequest } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { writeEvent } from '../../../kit/server-sent-events.ts';
import { fieldErrorsOf } from '../../../kit/field-errors.ts';
import type { DrawnImages, ImageJob } from '../draw/image-job.ts';
import { imagesOf } from '../images-of.ts';
import { imagesSlug } from '../image-names.ts';
import { imageTiles } from './image-tile.ts';

export interface DrawAction {
  readonly job: ImageJob;
  /** Where to go without JavaScript once it is drawn. */
  readonly redirect?: ((drawn: DrawnImages) => string) | undefined;
}

/**
 * Draws for a page. With JavaScript the answer is a stream: `progress` as images come, then `done` or `failed`. Drawing goes
 * on when the page is left: what is paid for is in the history.
 */
export async function drawAction(
  context: ServiceContext,
  request: Pick<AdminRequest, 'headers'>,
  { job, redirect }: DrawAction,
): Promise<AdminActionResult> {
  if (request.headers['accept']?.includes('text/event-stream') === true) {
    return {
      download: { name: 'images.txt', type: 'text/event-stream; charset=utf-8', content: drawStream(context, job) },
    };
  }
  const drawn = await imagesOf(context).drawing.draw(job);
  const notice = {
    kind: drawn.images.length < job.n ? ('warning' as const) : ('success' as const),
    text: withIgnored(drawn),
  };
  return { notice, redirect: redirect?.(drawn) ?? `${imagesSlug}?request=${job.request}` };
}

/** Comments this often keep the connection open while nothing comes, in milliseconds. */
const silence = 10_000;

async function* drawStream(context: ServiceContext, job: ImageJob): AsyncGenerator<string> {
  const { clock, log } = context.host;
  let made = 0;
  let told = -1;
  let wake: () => void = () => undefined;
  const onImage = (count: number): void => {
    made = count;
    wake();
  };
  let isOver = false;
  const work = imagesOf(context)
    .drawing.draw(job, { onImage })
    .then(
      (drawn) => doneEvent(context, drawn),
      (error: unknown) => {
        if (!(error instanceof RestError)) log.error('Images could not be drawn.', { error });
        return failedEvent(error);
      },
    )
    .finally(() => {
      isOver = true;
      wake();
    });
  while (!isOver) {
    yield made === told ? ': \n\n' : writeEvent({ event: 'progress', data: { made, of: job.n } });
    told = made;
    if (isOver as boolean) break;
    await new Promise<void>((resolve) => {
      const cancel = clock.after(silence, resolve);
      wake = () => {
        cancel();
        resolve();
      };
    });
  }
  yield writeEvent(await work);
}

async function doneEvent({ host }: ServiceContext, drawn: DrawnImages) {
  return {
    event: 'done',
    data: { message: withIgnored(drawn), cost: drawn.cost, images: await imageTiles(host, drawn.images) },
  };
}

function failedEvent(error: unknown) {
  const message =
    error instanceof RestError ? error.message : 'The images could not be drawn. The cause is in the log.';
  return { event: 'failed', data: { message, errors: fieldErrorsOf(error) ?? {} } };
}

function withIgnored({ message, ignored, model }: DrawnImages): string {
  return ignored.length === 0 ? message : `${message} ${model} takes no ${ignored.join(' and no ')}.`;
}

/** Names a request of a page. */
export function newRequest(): string {
  return randomUUID();
}

import type { Clock, RestError, RestResponse } from '#plugin-api';
import { eventResponse, type ServerSentEvent } from '../../../kit/server-sent-events.ts';
import type { Source, Submission } from '../submissions/submission.ts';
import type { Accepted } from '../submit/submit.ts';
import type { SubmitResponse, SubmitEvent } from './protocol.ts';

export interface Watchers {
  readonly signal: AbortSignal;
  readonly onText?: (piece: string) => void;
  readonly onSources?: (sources: readonly Source[]) => void;
}

export interface StreamInit {
  readonly begin: (watchers: Watchers) => Promise<Accepted>;
  /** The error that the visitor sees. */
  readonly fail: (error: unknown) => RestError;
  readonly signal: AbortSignal;
  readonly clock: Pick<Clock, 'after'>;
  readonly headers: Readonly<Record<string, string>>;
}

/** Streams the response. Refusals throw before the stream starts; later failures are events. */
export async function streamResponse({ begin, fail, signal, clock, headers }: StreamInit): Promise<RestResponse> {
  const events: SubmitEvent[] = [];
  let wake: () => void = () => undefined;
  let isOver = false;
  const push = (event: SubmitEvent): void => {
    events.push(event);
    wake();
  };
  const { completed } = await begin({
    signal,
    onText: (text) => push({ type: 'delta', text }),
    onSources: (sources) => push({ type: 'sources', sources }),
  });
  void completed
    .then(
      (submission) => push({ type: 'done', ...submitResponseOf(submission) }),
      (error: unknown) => {
        const { code, message, status } = fail(error);
        push({ type: 'error', code, message, status });
      },
    )
    .finally(() => {
      isOver = true;
      wake();
    });

  async function* stream(): AsyncGenerator<ServerSentEvent> {
    for (;;) {
      const event = events.shift();
      if (event !== undefined) {
        const { type, ...data } = event;
        yield { event: type, data };
      } else if (isOver) return;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  }
  return eventResponse(stream(), { clock, headers: { ...headers, 'Cache-Control': 'no-store, no-transform' } });
}

export function submitResponseOf({ id, response, generation }: Submission): SubmitResponse {
  return {
    submission_id: id,
    response,
    sources: generation?.sources ?? [],
    ...(generation?.data && { data: generation.data }),
    ...(generation?.finish && { finish_reason: generation.finish }),
  };
}

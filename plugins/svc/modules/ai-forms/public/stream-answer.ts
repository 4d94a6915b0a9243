import type { Clock, RestError, RestResponse } from '#plugin-api';
import { eventResponse, type ServerSentEvent } from '../../../kit/server-sent-events.ts';
import type { Source, Submission } from '../submissions/submission.ts';
import type { Accepted } from '../submit/submit.ts';
import type { SubmitAnswer, SubmitEvent } from './protocol.ts';

export interface Watchers {
  readonly signal: AbortSignal;
  readonly onText?: (piece: string) => void;
  readonly onSources?: (sources: readonly Source[]) => void;
}

export interface StreamInit {
  readonly begin: (watchers: Watchers) => Promise<Accepted>;
  /** A failure as the visitor is told it. */
  readonly fail: (error: unknown) => RestError;
  readonly signal: AbortSignal;
  readonly clock: Pick<Clock, 'after'>;
  readonly headers: Readonly<Record<string, string>>;
}

/** The answer as it is made. What is refused before it begins is an error answer; what fails later is an event. */
export async function streamAnswer({ begin, fail, signal, clock, headers }: StreamInit): Promise<RestResponse> {
  const events: SubmitEvent[] = [];
  let wake: () => void = () => undefined;
  let isOver = false;
  const push = (event: SubmitEvent): void => {
    events.push(event);
    wake();
  };
  const { answer } = await begin({
    signal,
    onText: (text) => push({ type: 'delta', text }),
    onSources: (sources) => push({ type: 'sources', sources }),
  });
  void answer
    .then(
      (submission) => push({ type: 'done', ...answerOf(submission) }),
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

export function answerOf({ id, response, made }: Submission): SubmitAnswer {
  return { submission_id: id, response, sources: made?.sources ?? [] };
}

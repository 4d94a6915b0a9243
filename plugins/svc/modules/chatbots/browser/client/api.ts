import type {
  FeedbackResponse,
  FeedbackRequest,
  FormResponse,
  FormRequest,
  SendResponse,
  SendEvent,
  SendRequest,
  SolvedRequest,
  StartResponse,
  StartRequest,
  StopRequest,
} from '../../widget/protocol.ts';
import { connectionLost } from './failure.ts';
import { readEvents } from '../../../../kit/browser/sse.ts';
import { readJson, request } from './request.ts';

/** Milliseconds without data after which a stream counts as broken. The server sends a comment every 15 s. */
const streamTimeout = 45_000;

export interface Api {
  start(body: StartRequest): Promise<StartResponse>;
  /** All events of a message, in order; the last is `done` or `error`. @throws Failure if the connection breaks before that */
  send(
    body: SendRequest,
    options: { readonly signal: AbortSignal; readonly plain: boolean },
  ): AsyncGenerator<SendEvent>;
  stop(body: StopRequest): Promise<{ stopped: boolean }>;
  rate(body: FeedbackRequest): Promise<FeedbackResponse>;
  submit(formId: string, body: FormRequest): Promise<FormResponse>;
  /** Records whether the visitor's question was solved. */
  solve(body: SolvedRequest): Promise<unknown>;
}

/** The routes of one bot. */
export function createApi(root: string, botId: string): Api {
  // The token is a header too, which the site checks before it reads the body.
  const post = (route: string, body: { readonly token?: string }, init: RequestInit = {}): Promise<Response> =>
    request(root, `/svc-widget/v1/bots/${botId}/${route}`, {
      method: 'POST',
      ...init,
      headers: { 'Content-Type': 'application/json', 'X-SVC-Session': body.token ?? '', ...init.headers },
      body: JSON.stringify(body),
    });
  return {
    start: (body) => readJson(post('start', body)),
    async *send(body, { signal, plain }) {
      const response = await post('messages', body, {
        signal,
        headers: { Accept: plain ? 'application/json' : 'text/event-stream' },
      });
      if (!response.headers.get('Content-Type')?.startsWith('text/event-stream'))
        yield* wholeResponse(await readJson<SendResponse>(Promise.resolve(response)), body.message_id);
      else if (response.body) yield* streamEvents(response.body);
      else yield* streamEvents(new Blob([await response.arrayBuffer()]).stream());
    },
    stop: (body) => readJson(post('stop', body)),
    rate: (body) => readJson(post('feedback', body)),
    solve: (body) => readJson(post('solved', body)),
    submit: (formId, body) => readJson(post(`forms/${encodeURIComponent(formId)}`, body)),
  };
}

function* wholeResponse({ conversation, message, form, limit }: SendResponse, messageId: string): Generator<SendEvent> {
  yield { type: 'accepted', conversation, message_id: messageId };
  yield { type: 'done', message, form, limit };
}

async function* streamEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<SendEvent> {
  const events = readEvents(withTimeout(body));
  try {
    for await (const { event, data } of events) {
      yield { type: event, ...(JSON.parse(data) as object) } as SendEvent;
      if (event === 'done' || event === 'error') return;
    }
  } catch {
    throw connectionLost();
  }
  throw connectionLost();
}

/** The same stream, which fails if no data arrives in time. */
function withTimeout(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(connectionLost()), streamTimeout);
      });
      try {
        const { done, value } = await Promise.race([reader.read(), late]);
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        void reader.cancel().catch(() => undefined);
        throw error;
      } finally {
        clearTimeout(timer);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

import type {
  FeedbackResponse,
  FeedbackRequest,
  FormResponse,
  FormRequest,
  SendResponse,
  SendEvent,
  SendRequest,
  StartResponse,
  StartRequest,
  StopRequest,
  WidgetBot,
} from '../../widget/protocol.ts';
import { routeAddress } from '../../../../kit/browser/address.ts';
import { readFailure, connectionLost } from './failure.ts';
import { readEvents } from '../../../../kit/browser/sse.ts';

/** Milliseconds without a sign of life, of which the server gives one every 15 s, after which a stream counts as broken. */
const silence = 45_000;

export interface Api {
  /** What visitors may know of the bot. Begins no session. */
  describe(): Promise<WidgetBot>;
  start(body: StartRequest): Promise<StartResponse>;
  /** Answers all events of a message, in order; the last is `done` or `error`. Throws Failure when the connection breaks before. */
  send(body: SendRequest, how: { readonly signal: AbortSignal; readonly plain: boolean }): AsyncGenerator<SendEvent>;
  stop(body: StopRequest): Promise<{ stopped: boolean }>;
  rate(body: FeedbackRequest): Promise<FeedbackResponse>;
  submit(formId: string, body: FormRequest): Promise<FormResponse>;
}

/** The routes of one bot. */
export function createApi(root: string, botId: string): Api {
  // Sessions of the host count on its own site alone; to others nothing is sent but what the body says.
  const credentials = new URL(root, location.href).origin === location.origin ? 'same-origin' : 'omit';
  const ask = async (route: string, init: RequestInit): Promise<Response> => {
    const response = await fetch(routeAddress(root, route), { credentials, cache: 'no-store', ...init }).catch(() => {
      throw connectionLost();
    });
    if (!response.ok) throw await readFailure(response);
    return response;
  };
  const post = (route: string, body: object, init: RequestInit = {}): Promise<Response> =>
    ask(`/svc-widget/v1/bots/${botId}/${route}`, {
      method: 'POST',
      ...init,
      headers: { 'Content-Type': 'application/json', ...init.headers },
      body: JSON.stringify(body),
    });
  const answer = async <Answer>(response: Promise<Response>): Promise<Answer> => {
    const given = await response;
    return (await given.json().catch(() => {
      throw connectionLost();
    })) as Answer;
  };

  return {
    describe: async () =>
      (await answer<{ config: WidgetBot }>(ask(`/svc/v1/chatbots/${botId}/embed-config`, {}))).config,
    start: (body) => answer(post('start', body)),
    async *send(body, { signal, plain }) {
      const response = await post('messages', body, {
        signal,
        headers: { Accept: plain ? 'application/json' : 'text/event-stream' },
      });
      if (!response.headers.get('Content-Type')?.startsWith('text/event-stream'))
        yield* wholeResponse(await answer<SendResponse>(Promise.resolve(response)), body.message_id);
      else if (response.body) yield* streamEvents(response.body);
      else yield* streamEvents(new Blob([await response.arrayBuffer()]).stream());
    },
    stop: (body) => answer(post('stop', body)),
    rate: (body) => answer(post('feedback', body)),
    submit: (formId, body) => answer(post(`forms/${encodeURIComponent(formId)}`, body)),
  };
}

function* wholeResponse({ conversation, message, form, limit }: SendResponse, messageId: string): Generator<SendEvent> {
  yield { type: 'accepted', conversation, message_id: messageId };
  yield { type: 'done', message, form, limit };
}

async function* streamEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<SendEvent> {
  const watched = watch(body);
  try {
    for await (const { event, data } of readEvents(watched)) {
      yield { type: event, ...(JSON.parse(data) as object) } as SendEvent;
      if (event === 'done' || event === 'error') return;
    }
  } catch {
    throw connectionLost();
  }
  throw connectionLost();
}

/** The same stream; it fails when nothing comes for too long. */
function watch(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(connectionLost()), silence);
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

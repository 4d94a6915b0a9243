import { routeAddress } from '../../../../kit/browser/address.ts';
import { readEvents } from '../../../../kit/browser/sse.ts';
import type { FormMessages } from '../../public/built-in-texts.ts';
import type { FormView, PostResponse, StartResponse, SubmitResponse, SubmitEvent } from '../../public/protocol.ts';

/** An error with the message of the site for the visitor. Without one, the code is `lost` or `unavailable`. */
export class Failure extends Error {
  readonly code: string;
  readonly status: number;
  /** Messages by field. */
  readonly errors: Readonly<Record<string, string>>;

  constructor(
    message: string,
    code = 'lost',
    { status = 0, errors = {} }: { readonly status?: number; readonly errors?: Readonly<Record<string, string>> } = {},
  ) {
    super(message);
    this.code = code;
    this.status = status;
    this.errors = errors;
  }
}

export interface Api {
  /** The origin of the site that the form belongs to. */
  readonly origin: string;
  view(): Promise<FormView>;
  start(): Promise<StartResponse>;
  /** Yields all events up to `done`. @throws Failure. */
  submit(body: FormData, signal: AbortSignal): AsyncGenerator<SubmitEvent>;
  post(submission: string): Promise<PostResponse>;
}

interface ErrorBody {
  readonly code?: string;
  readonly message?: string;
  readonly data?: { readonly params?: Readonly<Record<string, string>> };
}

const lost = (): Failure => new Failure('', 'lost');

/** The routes of one form. The session token stays in memory. */
export function createApi(root: string, id: string): Api {
  const { origin } = new URL(root, location.href);
  // Cookies count on the site itself only.
  const credentials = origin === location.origin ? 'same-origin' : 'omit';
  let token = '';

  const ask = async (route: string, init: RequestInit = {}): Promise<Response> => {
    const response = await fetch(routeAddress(root, `/svc-widget/v1/forms/${id}${route}`), {
      credentials,
      cache: 'no-store',
      ...init,
      // Not in the body, so that the site can check it before it reads that.
      headers: { ...init.headers, ...(token !== '' && { 'X-SVC-Session': token }) },
    }).catch((error: unknown) => {
      throw error instanceof DOMException && error.name === 'AbortError' ? error : lost();
    });
    if (!response.ok) throw await failureOf(response);
    return response;
  };
  const json = async <Body>(response: Promise<Response>): Promise<Body> => (await (await response).json()) as Body;
  const post = (route: string, body: object): Promise<Response> =>
    ask(route, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
      body: JSON.stringify(body),
    });

  return {
    origin,
    view: () => json(ask('')),
    async start() {
      const started = await json<StartResponse>(post('/start', {}));
      if (started.token !== '') ({ token } = started);
      return started;
    },
    async *submit(body, signal) {
      const response = await ask('/submit', { method: 'POST', headers: { Accept: 'text/event-stream' }, body, signal });
      if (!response.body || !response.headers.get('Content-Type')?.startsWith('text/event-stream')) {
        yield { type: 'done', ...(await json<SubmitResponse>(Promise.resolve(response))) };
        return;
      }
      for await (const { event, data } of readEvents(response.body)) {
        const read = { type: event, ...(JSON.parse(data) as object) } as SubmitEvent;
        if (read.type === 'error') throw new Failure(read.message, read.code, { status: read.status });
        yield read;
        if (read.type === 'done') return;
      }
      throw lost();
    },
    post: (submission) => json(post('/post', { submission_id: submission })),
  };
}

/** @param otherwise for an error that is no failure of a request. */
export function messageOf(error: unknown, messages: FormMessages, otherwise: 'failed' | 'notSaved'): string {
  if (!(error instanceof Failure)) return messages[otherwise];
  return error.message || messages[error.code === 'lost' ? 'lost' : 'unavailable'];
}

async function failureOf(response: Response): Promise<Failure> {
  const body = (await response.json().catch(() => ({}))) as ErrorBody;
  return new Failure(body.message ?? '', body.code ?? 'unavailable', {
    status: response.status,
    ...(body.data?.params && { errors: body.data.params }),
  });
}

import { routeAddress } from '../../../../kit/browser/address.ts';
import { readEvents } from '../../../../kit/browser/sse.ts';
import type { FormView, PostAnswer, StartAnswer, SubmitAnswer, SubmitEvent } from '../../public/protocol.ts';

/** Something that did not work, in words for the visitor. */
export class Failure extends Error {
  readonly code: string;
  readonly status: number;
  /** Sentences by field. */
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
  view(): Promise<FormView>;
  start(): Promise<StartAnswer>;
  /** All events, the last is `done`; throws Failure. */
  submit(body: FormData, signal: AbortSignal): AsyncGenerator<SubmitEvent>;
  post(submission: string): Promise<PostAnswer>;
}

interface ErrorBody {
  readonly code?: string;
  readonly message?: string;
  readonly data?: { readonly params?: Readonly<Record<string, string>> };
}

const lost = (): Failure => new Failure('The connection was lost. Please try again.');

/** The routes of one form. The session's token is kept in memory: a form is not a conversation. */
export function createApi(root: string, id: string): Api {
  // Sessions of the host count on its own site alone; to others nothing is sent but what the body says.
  const credentials = new URL(root, location.href).origin === location.origin ? 'same-origin' : 'omit';
  let token = '';

  const ask = async (route: string, init: RequestInit = {}): Promise<Response> => {
    const response = await fetch(routeAddress(root, `/svc-widget/v1/forms/${id}${route}`), {
      credentials,
      cache: 'no-store',
      ...init,
    }).catch((error: unknown) => {
      throw error instanceof DOMException && error.name === 'AbortError' ? error : lost();
    });
    if (!response.ok) throw await failureOf(response);
    return response;
  };
  const json = async <Answer>(response: Promise<Response>): Promise<Answer> =>
    (await (await response).json()) as Answer;
  const post = (route: string, body: object): Promise<Response> =>
    ask(route, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
      body: JSON.stringify(body),
    });

  return {
    view: () => json(ask('')),
    async start() {
      const started = await json<StartAnswer>(post('/start', token === '' ? {} : { token }));
      if (started.token !== '') ({ token } = started);
      return started;
    },
    async *submit(body, signal) {
      body.set('token', token);
      const response = await ask('/submit', { method: 'POST', headers: { Accept: 'text/event-stream' }, body, signal });
      if (!response.body || !response.headers.get('Content-Type')?.startsWith('text/event-stream')) {
        yield { type: 'done', ...(await json<SubmitAnswer>(Promise.resolve(response))) };
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
    post: (submission) => json(post('/post', { submission_id: submission, ...(token !== '' && { token }) })),
  };
}

async function failureOf(response: Response): Promise<Failure> {
  const body = (await response.json().catch(() => ({}))) as ErrorBody;
  return new Failure(body.message ?? 'The site could not answer. Please try again.', body.code ?? 'unknown', {
    status: response.status,
    ...(body.data?.params && { errors: body.data.params }),
  });
}

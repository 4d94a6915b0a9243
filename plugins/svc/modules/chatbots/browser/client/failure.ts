import type { WidgetLimit } from '../../widget/protocol.ts';

/** A failed call: the server's error, or no response. */
export class Failure extends Error {
  readonly code: string;
  /** HTTP status; 0 without a response. */
  readonly status: number;
  /** Whether a retry may help. */
  readonly retry: boolean;
  /** A sentence for each invalid field. */
  readonly fields: Readonly<Record<string, string>>;
  /** The limit, if that was the reason. */
  readonly limit: WidgetLimit | null;

  constructor(init: {
    code: string;
    message: string;
    status: number;
    retry?: boolean;
    fields?: Readonly<Record<string, string>>;
    limit?: WidgetLimit | null;
  }) {
    super(init.message);
    this.code = init.code;
    this.status = init.status;
    this.retry = init.retry ?? (init.status === 0 || init.status === 429 || init.status >= 500);
    this.fields = init.fields ?? {};
    this.limit = init.limit ?? null;
  }
}

/** No response arrived, or the connection broke. */
export function connectionLost(): Failure {
  return new Failure({ code: 'lost', message: '', status: 0 });
}

/** Reads the host's error body (contract 7). The response may also come from a proxy, so any body is accepted. */
export async function readFailure(response: Response): Promise<Failure> {
  const body = (await response.json().catch(() => null)) as {
    code?: unknown;
    message?: unknown;
    data?: { params?: unknown; limit?: WidgetLimit } | null;
  } | null;
  const params = body?.data?.params;
  const fields =
    params !== null && typeof params === 'object' && !Array.isArray(params) ? (params as Record<string, unknown>) : {};
  return new Failure({
    code: String(body?.code ?? 'unreadable'),
    message: typeof body?.message === 'string' ? body.message : '',
    status: response.status,
    limit: body?.data?.limit ?? null,
    fields: Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, String(text)])),
  });
}

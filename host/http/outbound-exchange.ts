import { channel } from 'node:diagnostics_channel';
import type { Dispatcher } from 'undici';
import { OutboundError, asOutboundError } from './outbound-errors.ts';

/** What came back for one hop, redirects not followed. */
export interface HopAnswer {
  readonly status: number;
  /** Lower-case names; several of one name are joined. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface Hop {
  readonly agent: Pick<Dispatcher, 'dispatch'>;
  readonly target: URL;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array | null;
  /** Bytes of the answer's body that are kept. */
  readonly maxBytes: number;
  /** The status line decides: a body that is longer, breaks off or never ends is cut, not an error. */
  readonly truncate: boolean;
  readonly cancellation: Cancellation;
}

/** Ends the hop under way, whatever it waits for. Lighter than an AbortSignal with its listeners, of which a queue would need thousands a second. */
export interface Cancellation {
  reason: Error | null;
  onCancel: ((reason: Error) => void) | null;
}

export function cancel(cancellation: Cancellation, reason: Error): void {
  if (cancellation.reason !== null) return;
  cancellation.reason = reason;
  cancellation.onCancel?.(reason);
}

/**
 * Sends one request by undici's `dispatch`, which costs about a third less than its `request`: there is no stream to make
 * for an answer that is read whole. A redirect answers with its head; its body is not waited for.
 */
export function sendHop(hop: Hop): Promise<HopAnswer> {
  const { agent, target, cancellation } = hop;
  if (cancellation.reason !== null) return Promise.reject(cancellation.reason);
  return new Promise((resolve, reject) => {
    const handler = new HopHandler(hop, resolve, reject);
    cancellation.onCancel = (reason) => handler.cancelled(reason);
    try {
      agent.dispatch(
        {
          origin: target.origin,
          path: `${target.pathname}${target.search}`,
          method: hop.method as Dispatcher.HttpMethod,
          headers: hop.headers,
          body: hop.body,
        },
        handler,
      );
    } catch (error) {
      reject(asOutboundError(error, target.host));
    }
  });
}

/** What is read of answers, for whoever watches: `{ origin }` when a head has come, and for each piece of a body. */
const heads = channel('svc:outbound:head');
const bodies = channel('svc:outbound:body');

const redirects = new Set([301, 302, 303, 307, 308]);

class HopHandler implements Dispatcher.DispatchHandler {
  private readonly hop: Hop;
  private readonly resolve: (answer: HopAnswer) => void;
  private readonly reject: (error: Error) => void;
  private controller: Dispatcher.DispatchController | null = null;
  private settled = false;
  private status = 0;
  private headers: Record<string, string> = {};
  private parts: Buffer[] = [];
  private size = 0;

  constructor(hop: Hop, resolve: (answer: HopAnswer) => void, reject: (error: Error) => void) {
    this.hop = hop;
    this.resolve = resolve;
    this.reject = reject;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    // Given up while it waited for a connection, when there was no controller yet.
    if (this.settled) controller.abort(this.hop.cancellation.reason ?? new Error('given up'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    this.status = status;
    if (heads.hasSubscribers) heads.publish({ origin: this.hop.target.origin });
    for (const name in headers) {
      const value = headers[name];
      if (value !== undefined) this.headers[name] = typeof value === 'string' ? value : value.join(', ');
    }
    if (redirects.has(status) && this.headers['location'] !== undefined) this.cut();
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (bodies.hasSubscribers) bodies.publish({ origin: this.hop.target.origin });
    if (this.settled) return;
    const room = this.hop.maxBytes - this.size;
    this.size += chunk.length;
    if (chunk.length <= room) {
      this.parts.push(chunk);
    } else if (this.hop.truncate) {
      this.parts.push(chunk.subarray(0, room));
      this.cut();
    } else {
      this.fail(
        new OutboundError(
          'outbound_too_large',
          `The answer of ${this.hop.target.host} is larger than ${this.hop.maxBytes} bytes.`,
        ),
      );
      this.controller?.abort(new Error('too large'));
    }
  }

  onResponseEnd(): void {
    this.succeed();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.settled) return;
    if (this.hop.truncate && this.status !== 0) this.succeed();
    else this.fail(asOutboundError(error, this.hop.target.host));
  }

  cancelled(reason: Error): void {
    if (this.hop.truncate && this.status !== 0) return this.cut();
    this.fail(reason);
    this.controller?.abort(reason);
  }

  /** Answers with what is there, and lets go of the connection: the rest of the body would have to be read to use it again. */
  private cut(): void {
    this.succeed();
    this.controller?.abort(new Error('the rest is not wanted'));
  }

  private succeed(): void {
    if (this.settled) return;
    this.settled = true;
    this.hop.cancellation.onCancel = null;
    const [first] = this.parts;
    const body = this.parts.length === 1 && first ? first : Buffer.concat(this.parts);
    this.resolve({ status: this.status, headers: this.headers, body });
  }

  private fail(error: Error): void {
    if (this.settled) return;
    this.settled = true;
    this.hop.cancellation.onCancel = null;
    this.reject(error);
  }
}

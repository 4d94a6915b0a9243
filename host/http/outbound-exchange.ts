import { channel } from 'node:diagnostics_channel';
import type { Dispatcher } from 'undici';
import { OutboundError, asOutboundError } from './outbound-errors.ts';

/** Response of one hop; redirects are not followed. */
export interface HopResponse {
  readonly status: number;
  /** Lower-case names; repeated headers are joined. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface Hop {
  readonly agent: Pick<Dispatcher, 'dispatch'>;
  readonly target: URL;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array | null;
  /** Maximum bytes of the response body. */
  readonly maxBytes: number;
  /** Whether a body that is too long, incomplete or endless is cut instead of failing the request. */
  readonly truncate: boolean;
  readonly cancellation: Cancellation;
}

/** Ends the hop in progress. Cheaper than an AbortSignal with listeners, of which a queue would need thousands per second. */
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
 * Sends one request with undici's `dispatch`, which costs about a third less than `request`: a response that is read whole
 * needs no stream. A redirect resolves with its head; its body is not read.
 */
export function sendHop(hop: Hop): Promise<HopResponse> {
  const { agent, target, cancellation } = hop;
  if (cancellation.reason !== null) return Promise.reject(cancellation.reason);
  return new Promise((resolve, reject) => {
    const handler = new HopHandler(hop, resolve, reject);
    cancellation.onCancel = (reason) => handler.cancel(reason);
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

/** Diagnostics channels: publish `{ origin }` for each response head and each chunk of a body. */
const heads = channel('svc:outbound:head');
const bodies = channel('svc:outbound:body');

const redirects = new Set([301, 302, 303, 307, 308]);

class HopHandler implements Dispatcher.DispatchHandler {
  private readonly hop: Hop;
  private readonly resolve: (response: HopResponse) => void;
  private readonly reject: (error: Error) => void;
  private controller: Dispatcher.DispatchController | null = null;
  private settled = false;
  private status = 0;
  private headers: Record<string, string> = {};
  private parts: Buffer[] = [];
  private size = 0;

  constructor(hop: Hop, resolve: (response: HopResponse) => void, reject: (error: Error) => void) {
    this.hop = hop;
    this.resolve = resolve;
    this.reject = reject;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    // Cancelled while waiting for a connection, before there was a controller.
    if (this.settled) controller.abort(this.hop.cancellation.reason ?? new Error('cancelled'));
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
          `The response of ${this.hop.target.host} is larger than ${this.hop.maxBytes} bytes.`,
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

  cancel(reason: Error): void {
    if (this.hop.truncate && this.status !== 0) return this.cut();
    this.fail(reason);
    this.controller?.abort(reason);
  }

  /** Resolves with the bytes read so far and closes the connection: reusing it would require reading the rest of the body. */
  private cut(): void {
    this.succeed();
    this.controller?.abort(new Error('the rest is not needed'));
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

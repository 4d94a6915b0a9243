import type { MessagePort } from 'node:worker_threads';
import type { Outbound } from './outbound.ts';
import { packAnswers, unpackRequests, type Batch, type NumberedAnswer } from './outbound-thread-messages.ts';

/** Sends what comes in over the port and hands the answers back, those of one turn of the loop in one message. The first message, null, says that it is ready. */
export function serveThread(port: MessagePort, outbound: Pick<Outbound, 'fetch'>): void {
  let done: NumberedAnswer[] = [];

  function finish(answer: NumberedAnswer): void {
    if (done.push(answer) === 1) setImmediate(hand);
  }

  function hand(): void {
    const batch = packAnswers(done);
    done = [];
    port.postMessage(batch, [batch.bytes.buffer as ArrayBuffer]);
  }

  port.on('message', (batch: Batch) => {
    for (const { id, url, init } of unpackRequests(batch)) {
      outbound.fetch(url, init).then((answer) => { finish({ id, answer }); }, (error: unknown) => { finish({ id, error }); });
    }
  });
  port.postMessage(null);
}

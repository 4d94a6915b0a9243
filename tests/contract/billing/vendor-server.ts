import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Counted, Vendor, VendorText } from './vendors.ts';

/** What happens to one attempt. `sent`: of a stream the events, of a whole response 0 for none, 1 for its half. */
export type Ending =
  | { readonly kind: 'text'; readonly text: VendorText }
  | { readonly kind: 'cut' | 'pause' | 'error'; readonly text: VendorText; readonly sent: number }
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'unreadable' };

/** What the vendor charges for one attempt. */
export interface Bill {
  /** What it reported before the end. Null: nothing. */
  reported: Counted | null;
  /** Whether it generated more than it reported. */
  isPartial: boolean;
  /** Whether it charges nothing. */
  isFree: boolean;
}

/** One call of the site: the next attempts at it, and what was charged for those that came. */
export interface VendorCall {
  readonly vendor: Vendor;
  readonly endings: readonly Ending[];
  readonly bills: Bill[];
  /** Called when an attempt does not go on, with the text that was sent. */
  readonly onPause: (text: string) => void;
}

export interface VendorServer {
  readonly origin: string;
  /** The call that the next requests belong to. */
  call: VendorCall | null;
  stop(): Promise<void>;
}

/** All vendors behind one address, each below its path. They pause and cut where the test says, and never wait by themselves. */
export async function startVendors(): Promise<VendorServer> {
  const server = createServer((request, response) => {
    void readAll(request).then((body) => {
      const isStreamed = body['stream'] === true || request.url?.includes(':streamGenerateContent') === true;
      if (vendors.call === null) response.writeHead(500).end();
      else respond(vendors.call, response, isStreamed);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const vendors: VendorServer = {
    origin: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    call: null,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return vendors;
}

async function readAll(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const parts: Buffer[] = [];
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString()) as Readonly<Record<string, unknown>>;
}

function respond(call: VendorCall, response: ServerResponse, isStreamed: boolean): void {
  const ending = call.endings[Math.min(call.bills.length, call.endings.length - 1)]!;
  const bill: Bill = { reported: null, isPartial: false, isFree: ending.kind === 'status' };
  call.bills.push(bill);
  if (ending.kind === 'status') {
    const error = { message: 'No.', type: 'error', code: 'no', status: 'NO' };
    response.writeHead(ending.status, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
  } else if (ending.kind === 'unreadable') {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Welcome</html>');
  } else if (isStreamed) respondWithStream(call, response, { ending, bill });
  else respondWhole(call, response, { ending, bill });
}

interface Responding {
  readonly ending: Exclude<Ending, { kind: 'status' } | { kind: 'unreadable' }>;
  readonly bill: Bill;
}

function respondWithStream(
  { vendor, onPause }: VendorCall,
  response: ServerResponse,
  { ending, bill }: Responding,
): void {
  const events = vendor.stream(ending.text);
  const sent = ending.kind === 'text' ? events : events.slice(0, ending.sent);
  let text = '';
  if (sent.length > 0 || ending.kind === 'error') response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of sent) {
    response.write(event.data);
    text += event.text ?? '';
    if (event.reported === undefined) continue;
    bill.reported = event.reported;
    bill.isPartial = event.isPartial === true;
  }
  if (ending.kind === 'text') response.end();
  else if (ending.kind === 'error') {
    // One that was overloaded before its first word did not begin; of another failure it is not known.
    bill.isFree =
      /overloaded/i.test(vendor.errorEvent) &&
      text === '' &&
      bill.reported === null &&
      !sent.some(({ isWritten }) => isWritten);
    response.end(vendor.errorEvent);
  } else if (ending.kind === 'cut') cut(response);
  else if (sent.length === 0) onPause(text);
  else response.write('', () => onPause(text));
}

function respondWhole({ vendor, onPause }: VendorCall, response: ServerResponse, { ending, bill }: Responding): void {
  const body = JSON.stringify(vendor.whole(ending.text));
  const head = (): unknown =>
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  if (ending.kind === 'text' || ending.kind === 'error') {
    bill.reported = ending.text.counted;
    head();
    response.end(body);
    return;
  }
  if (ending.sent > 0) {
    head();
    response.write(body.slice(0, body.length / 2));
  }
  if (ending.kind === 'cut') cut(response);
  else onPause('');
}

/** Everything that was written arrives before the end. */
function cut(response: ServerResponse): void {
  const end = (): unknown => response.socket?.end();
  // Node 26 sends what was written when the tick ends.
  if (response.headersSent) response.write('', end);
  else end();
}

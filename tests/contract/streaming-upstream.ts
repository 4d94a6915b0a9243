import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ChatCall {
  readonly model: string;
  readonly stream: boolean;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly max_completion_tokens?: number;
  readonly max_tokens?: number;
  readonly response_format?: {
    readonly type: string;
    readonly json_schema?: { readonly schema: { readonly properties: Readonly<Record<string, { type?: string }>> } };
  };
}

/** How one call is answered: whole or in pieces, by hand. */
export interface ChatTurn {
  readonly call: ChatCall;
  /** Sends a piece of the text. */
  piece(text: string): void;
  /** Ends the answer. */
  end(usage?: { readonly input: number; readonly output: number }, finish?: 'stop' | 'length' | 'content_filter'): void;
  /** Answers an error of the provider. */
  fail(status: number, message?: string): void;
  /** Cuts the connection. */
  cut(): void;
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>;
}

export interface StreamingUpstream {
  readonly url: string;
  readonly calls: readonly ChatCall[];
  /** What it does with a call; default: says what it was told, in pieces. */
  answer: (turn: ChatTurn) => void;
  /** Answers the next call by hand: resolves as soon as it has come. */
  next(): Promise<ChatTurn>;
  /** Forgets the calls, and what the test said about them. */
  reset(): void;
  stop(): Promise<void>;
}

/** A real chat-completions server on the loopback that the test speaks for. */
export async function startStreamingUpstream(): Promise<StreamingUpstream> {
  const calls: ChatCall[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const call = JSON.parse(Buffer.concat(parts).toString()) as ChatCall;
      calls.push(call);
      upstream.answer(turnOf(call, response));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const upstream: StreamingUpstream = {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/v1`,
    calls,
    answer: echo,
    next: () =>
      new Promise((resolve) => {
        upstream.answer = (turn) => {
          upstream.answer = echo;
          resolve(turn);
        };
      }),
    reset() {
      calls.length = 0;
      upstream.answer = echo;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
  return upstream;
}

export function echo(turn: ChatTurn): void {
  const said = `You said: ${turn.call.messages.at(-1)?.content ?? ''}`;
  for (const word of answerIn(turn.call, said).split(/(?<= )/)) turn.piece(word);
  turn.end();
}

/** The text, or the data that the call describes with a schema: each member is the text, or a list of its lines. */
export function answerIn({ response_format: format }: ChatCall, text: string): string {
  const properties = format?.json_schema?.schema.properties;
  if (properties === undefined) return text;
  const entries = Object.entries(properties).map(([name, { type }]) => [
    name,
    type === 'array' ? text.split('\n') : text,
  ]);
  return JSON.stringify(Object.fromEntries(entries));
}

function turnOf(call: ChatCall, response: ServerResponse): ChatTurn {
  let text = '';
  const common = { id: 'chatcmpl-1', created: 1, model: `${call.model}-answered` };
  const chunk = (body: object): void => {
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', ...body })}\n\n`);
  };
  return {
    call,
    closed: new Promise((resolve) => response.once('close', resolve)),
    piece(piece) {
      text += piece;
      if (call.stream) chunk({ choices: [{ index: 0, delta: { content: piece }, finish_reason: null }] });
    },
    end({ input, output } = { input: 10, output: 5 }, finish = 'stop') {
      const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
      if (!call.stream) {
        response.writeHead(200, { 'content-type': 'application/json' }).end(
          JSON.stringify({
            ...common,
            object: 'chat.completion',
            choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: finish }],
            usage,
          }),
        );
        return;
      }
      chunk({ choices: [{ index: 0, delta: {}, finish_reason: finish }] });
      chunk({ choices: [], usage });
      response.end('data: [DONE]\n\n');
    },
    fail(status, message = 'The upstream is not well.') {
      response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(JSON.stringify({ error: { message, type: 'server_error' } }));
    },
    cut() {
      response.destroy();
    },
  };
}

import type { OutboundResponse } from '#plugin-api';

/** A class, so that an answer costs no functions of its own. */
export class Answer implements OutboundResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly url: string;

  constructor({ status, headers, body, url }: Omit<OutboundResponse, 'text' | 'json'>) {
    this.status = status;
    this.headers = headers;
    this.body = body;
    this.url = url;
  }

  text(): string {
    return Buffer.from(this.body.buffer, this.body.byteOffset, this.body.byteLength).toString('utf8');
  }

  json(): unknown {
    return JSON.parse(this.text());
  }
}

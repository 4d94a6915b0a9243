import { execFile } from 'node:child_process';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { openReceiver, openSocketServer, type Receiver } from './open-receiver.ts';

interface Report {
  /** Bytes. */
  readonly grown: number;
  readonly outcomes: readonly {
    readonly status: number | null;
    readonly failure: string | null;
    readonly kept: number;
  }[];
}

const megabyte = 1024 * 1024;
const head = 'HTTP/1.1 200 OK\r\n';

describe('the memory that a response can use', () => {
  let honest: Receiver;
  before(async () => {
    honest = await openReceiver();
  });
  after(() => honest.close());

  /** Runs a sender of its own, whose memory is then its own too. */
  async function memoryOf(answer: (socket: Socket) => void, rounds = 1): Promise<Report> {
    const server = await openSocketServer((socket) => socket.once('data', () => answer(socket)));
    try {
      const { stdout } = await promisify(execFile)(process.execPath, [
        '--expose-gc',
        join(import.meta.dirname, 'memory-child.ts'),
        `http://127.0.0.1:${honest.port}/`,
        `http://127.0.0.1:${server.port}/`,
        String(rounds),
      ]);
      return JSON.parse(stdout) as Report;
    } finally {
      await server.close();
    }
  }

  /** Sends as much as is taken, up to the given bytes. */
  function pour(socket: Socket, bytes: number): void {
    const part = Buffer.alloc(megabyte, 'x');
    let left = bytes;
    const more = (): void => {
      while (left > 0 && !socket.destroyed) {
        left -= part.length;
        if (!socket.write(part)) return void socket.once('drain', more);
      }
      socket.end();
    };
    more();
  }

  it('is under 20 MB for 512 MB of body', async () => {
    const { grown, outcomes } = await memoryOf((socket) => {
      socket.write(`${head}Content-Length: ${512 * megabyte}\r\n\r\n`);
      pour(socket, 512 * megabyte);
    });
    expect(outcomes).to.deep.equal([{ status: 200, failure: null, kept: 16 * 1024 }]);
    expect(grown).to.be.below(20 * megabyte);
  });

  it('is under 20 MB for a gzip bomb', async () => {
    const bomb = gzipSync(Buffer.alloc(256 * megabyte));
    const { grown, outcomes } = await memoryOf((socket) =>
      socket.end(
        Buffer.concat([Buffer.from(`${head}Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`), bomb]),
      ),
    );
    expect(outcomes).to.have.deep.nested.property('[0].status', 200);
    expect(grown).to.be.below(20 * megabyte);
  });

  it('is under 20 MB for headers of a megabyte', async () => {
    const { grown, outcomes } = await memoryOf((socket) =>
      socket.end(`${head}X-Long: ${'x'.repeat(megabyte)}\r\n\r\n`),
    );
    expect(new Set(outcomes.map(({ failure }) => failure))).to.deep.equal(new Set(['answer']));
    expect(grown).to.be.below(20 * megabyte);
  });
});

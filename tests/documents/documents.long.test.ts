import { expect } from 'chai';
import { DocumentError, type DocumentReader, type ReadInit } from '#plugin-api';
import { createDocuments, type Documents } from '../../host/documents/documents.ts';
import { createSystemClock } from '../../host/clock.ts';
import { failureOf } from '../helpers/failure-of.ts';
import { silentLog } from '../helpers/silent-log.ts';
import type * as sample from './fixtures/sample.reader.ts';

const module = new URL('./fixtures/sample.reader.ts', import.meta.url);

type Samples = typeof sample;
type Init = Partial<Omit<ReadInit<DocumentReader>, 'onProgress'>> & { onProgress?: (progress: never) => void };

describe('documents', () => {
  let documents: Documents;

  beforeEach(() => {
    documents = createDocuments({ clock: createSystemClock(), log: silentLog, memory: 64, idleTimeout: 500 });
  });

  afterEach(() => documents.close());

  function read<Name extends keyof Samples>(reader: Name, input: Parameters<Samples[Name]>[0], init: Init = {}) {
    return documents.read<Samples[Name]>({ module, reader, input, ...init } as ReadInit<Samples[Name]>);
  }

  it('are read in a thread without the environment of the process', async () => {
    const thread = await read('describeThread', null);
    expect(thread).to.include({ isMainThread: false, environment: 0 });
    expect((await read('describeThread', null)).threadId, 'the thread is reused').to.equal(thread.threadId);
  });

  it('have one thread for each queue', async () => {
    const ids = await Promise.all(
      (['visitors', 'site', 'background'] as const).map(async (queue) => read('describeThread', null, { queue })),
    );
    expect(new Set(ids.map(({ threadId }) => threadId))).to.have.length(3);
    expect(documents.threads()).to.equal(3);
  });

  it('end their threads when idle', async () => {
    await read('describeThread', null);
    expect(documents.threads()).to.equal(1);
    while (documents.threads() > 0) await new Promise((resolve) => setTimeout(resolve, 50));
    expect((await read('describeThread', null)).isMainThread, 'a new thread').to.equal(false);
  });

  it('are copied without what surrounds them in memory', async () => {
    const memory = new Uint8Array(1_000).fill(1);
    const bytes = memory.subarray(100, 200);
    expect(await read('countBytes', { bytes })).to.deep.equal({ bytes: 100, buffer: 100, sum: 100 });
    expect(await read('countBytes', { bytes }, { movesBytes: true })).to.deep.equal({
      bytes: 100,
      buffer: 100,
      sum: 100,
    });
    expect(memory, 'the memory of others stays').to.have.length(1_000);
    const pooled = Buffer.from('abc');
    expect(await read('countBytes', { bytes: pooled }, { movesBytes: true })).to.include({ bytes: 3, sum: 294 });
  });

  it('are moved on request', async () => {
    const bytes = new Uint8Array(1_000).fill(1);
    expect(await read('countBytes', { bytes })).to.include({ bytes: 1_000 });
    expect(bytes).to.have.length(1_000);
    expect(await read('countBytes', { bytes }, { movesBytes: true })).to.include({ bytes: 1_000 });
    expect(bytes).to.have.length(0);
  });

  it('are refused with a sentence at the deadline, in the middle of a computation, and the next one is read', async () => {
    const error = await failureOf(read('spin', null, { deadline: 1_000 }));
    expect(error).to.be.instanceOf(DocumentError);
    expect(error).to.include({ code: 'timeout' });
    expect((error as Error).message).to.equal(
      'The file could not be read within 1 second. Choose a smaller or simpler one.',
    );
    expect(await failureOf(read('waitForever', null, { deadline: 1_000 }))).to.include({ code: 'timeout' });
    expect((await read('describeThread', null)).isMainThread).to.equal(false);
  });

  it('are refused when they need too much memory, and the next one is read', async () => {
    for (const reader of ['fillMemory', 'fillBuffers'] as const) {
      const error = await failureOf(read(reader, null, { deadline: 30_000 }));
      expect(error, reader).to.be.instanceOf(DocumentError);
      expect(error, reader).to.include({ code: 'too_large' });
    }
    expect((await read('describeThread', null)).isMainThread).to.equal(false);
  });

  it('fail with the sentence of the reader, or with its error', async () => {
    const refusal = await failureOf(read('refuse', 'This is no invoice.'));
    expect(refusal).to.be.instanceOf(DocumentError);
    expect(refusal).to.include({ code: 'unreadable', message: 'This is no invoice.' });
    const failure = await failureOf(read('fail', 'broken'));
    expect(failure).to.be.instanceOf(TypeError);
    expect((failure as Error).message).to.equal('broken');
    expect(await failureOf(read('recurse', 0))).to.be.instanceOf(RangeError);
    expect(await failureOf(documents.read({ module, reader: 'absent', input: null as never }))).to.match(
      /no reader named absent/,
    );
  });

  it('report all their progress before their result', async () => {
    const reported: number[] = [];
    await read('reportPages', 3_000, { onProgress: (page: never) => reported.push(page) });
    expect(reported).to.deep.equal(Array.from({ length: 3_000 }, (_, index) => index + 1));
  });

  it('stop when the signal is aborted, running or waiting', async () => {
    const controller = new AbortController();
    const reason = new Error('gone');
    const onProgress = (): void => controller.abort(reason);
    const [running, waiting] = await Promise.all([
      failureOf(read('spin', null, { signal: controller.signal, onProgress })),
      failureOf(read('describeThread', null, { signal: controller.signal })),
    ]);
    expect(running).to.equal(reason);
    expect(waiting).to.equal(reason);
    expect((await read('describeThread', null)).isMainThread).to.equal(false);
  });

  it('of visitors wait in a short line, and are refused beyond it', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const first = failureOf(read('spin', null, { queue: 'visitors', deadline: 60_000, signal }));
    const waiting = Array.from({ length: 8 }, () => read('describeThread', null, { queue: 'visitors' }));
    const refused = await failureOf(read('describeThread', null, { queue: 'visitors' }));
    expect(refused).to.include({ name: 'DocumentError', code: 'busy' });
    expect((await read('describeThread', null)).isMainThread, 'other queues go on').to.equal(false);
    controller.abort(new Error('enough'));
    await first;
    expect(await Promise.all(waiting)).to.have.length(8);
  });

  it('of users without upload_files wait apart from uploads, at most two of each user', async () => {
    const stop = new AbortController();
    const { signal } = stop;
    const mine = { queue: 'members', userId: 1, deadline: 60_000, signal } as const;
    const spinning = [1, 2, 3].map(() => failureOf(read('spin', null, mine)));
    const refused = await failureOf(read('describeThread', null, mine));
    expect(refused).to.include({ name: 'DocumentError', code: 'busy' });
    expect((await read('describeThread', null)).isMainThread, 'uploads go on').to.equal(false);
    const other = read('describeThread', null, { queue: 'members', userId: 2 });
    stop.abort();
    await Promise.all(spinning);
    expect((await other).isMainThread).to.equal(false);
    expect((await read('describeThread', null, { queue: 'members', userId: 1 })).isMainThread).to.equal(false);
  });

  it('of one user do not keep those of another waiting', async () => {
    const order: string[] = [];
    const readAs = async (name: string, userId: number): Promise<void> => {
      await read('describeThread', null, { userId });
      order.push(name);
    };
    await Promise.all([
      ...['a1', 'a2', 'a3', 'a4'].map(async (name) => readAs(name, 1)),
      ...['b1', 'b2'].map(async (name) => readAs(name, 2)),
      readAs('c1', 3),
    ]);
    expect(order).to.deep.equal(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
  });

  it('are rejected when the host stops', async () => {
    const [running, waiting] = [failureOf(read('spin', null)), failureOf(read('describeThread', null))];
    await documents.close();
    expect(await running).to.match(/host is stopping/);
    expect(await waiting).to.match(/host is stopping/);
    expect(documents.threads()).to.equal(0);
  });
});

import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingHttpHeaders } from 'node:http';
import type { Clock, SpanAttributes, TracesApi, Undo } from '#plugin-api';
import type { Database } from './database/database.ts';
import { observeCallbacks } from './hooks/callbacks.ts';
import {
  createIdentity,
  createSpanId,
  hasProvider,
  readParent,
  startProviderSpan,
  type ProviderSpan,
  type SpanOutcome,
} from './open-telemetry.ts';

/** `step`: what the host does before a handler runs. `call`: a part that a plugin named. */
export type SpanKind = 'step' | 'handler' | 'hook' | 'query' | 'outbound' | 'render' | 'call';

/** A part of a request or job that took time. Milliseconds. */
export interface TraceSpan {
  readonly kind: SpanKind;
  /** Name of the hook, the statement, method and URL without a query, template or route. */
  readonly name: string;
  /** The plugin whose callback ran; null if unknown. */
  readonly owner: string | null;
  /** Since the request began. */
  readonly start: number;
  readonly duration: number;
  /** Index of the enclosing span; null at the top. */
  readonly parent: number | null;
  /** What a plugin said of its part. */
  readonly attributes?: SpanAttributes;
  /** 16 hexadecimal digits, as in `traceparent`. */
  readonly spanId: string;
}

export interface Trace {
  /** The id of the request; of other work one that was made for it. */
  readonly id: string;
  /** `background`: a job or a cron event. */
  readonly kind: 'request' | 'background';
  /** 32 hexadecimal digits: those of the caller's `traceparent`, if the request has one. */
  readonly traceId: string;
  /** Of the whole trace, above its parts. */
  readonly spanId: string;
  /** The caller's span; null if it named none. */
  readonly parentSpanId: string | null;
  /** Method and path; of other work what runs, such as `job summary`. */
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly duration: number;
  /** Percent of the duration that spans cover. */
  readonly explained: number;
  /** Whether there were more spans than are stored. */
  readonly isCut: boolean;
  readonly spans: readonly TraceSpan[];
}

/** A trace that is being recorded. */
export interface Recording {
  /** Milliseconds by kind so far, for `Server-Timing`. Time that overlaps counts once. */
  totals(): ReadonlyMap<SpanKind, { readonly count: number; readonly duration: number }>;
  /** Ends it. Later calls have no effect. */
  end(outcome?: SpanOutcome): void;
}

export interface RecordInit extends Pick<Trace, 'id' | 'name'> {
  /** Default: `request`. */
  readonly kind?: Trace['kind'];
  /** Those of the request. Default: none. */
  readonly headers?: IncomingHttpHeaders;
  /** Whether `list` has it. Default true. False: it is for a provider of OpenTelemetry alone. */
  readonly isListed?: boolean;
}

export interface Tracer {
  /** Records what runs in `work` and after it, until `end`. */
  record<Result>(about: RecordInit, work: (recording: Recording) => Result): Result;
  /**
   * Runs a job or a cron event under its name: as a part of the trace that is being recorded here, or as a separate trace if
   * background work is recorded.
   */
  background<Result>(name: string, work: () => Result): Result;
  /** While this returns true, background work is recorded and listed. */
  listBackground(isWanted: () => boolean): void;
  /** Runs `work` as a span if a trace is being recorded here; else it only runs it. */
  span<Result>(kind: SpanKind, name: string, work: () => Result): Result;
  /** The parts that a plugin names. */
  forOwner(owner: string): TracesApi;
  /** Begins a span that lasts until the trace ends, if one is being recorded here. */
  spanToEnd(kind: SpanKind, name: string): void;
  /** The last traces of this process, newest first. */
  list(): readonly Trace[];
}

/** Traces, and spans of each, that a process stores. */
const mostTraces = 50;
const mostSpans = 2_000;

interface MutableSpan extends Omit<TraceSpan, 'duration' | 'attributes'> {
  duration: number | null;
  attributes?: SpanAttributes;
  /** The same span of the provider, if there is one. */
  readonly provided: ProviderSpan | null;
}

interface Running extends Pick<Trace, 'traceId' | 'spanId' | 'parentSpanId'> {
  /** null without a provider of OpenTelemetry. */
  readonly provided: ProviderSpan | null;
  /** False: it only passes `traceparent` on, since neither an administrator nor the provider wants more. */
  readonly isRecorded: boolean;
  /** The header `tracestate`, which is passed on as it is. */
  readonly state: string;
  begin: number;
  readonly spans: MutableSpan[];
  isCut: boolean;
  isOver: boolean;
}

interface Frame {
  readonly trace: Running;
  readonly parent: number | null;
}

/** Shared by all hosts of the process. Enabled only while a trace is recorded: it slows every promise. */
const storage = new AsyncLocalStorage<Frame>();
let recordings = 0;
const undos: Undo[] = [];

/** Finds where the time of single requests goes. While no request is recorded, it costs one comparison at each span. */
export function createTracer({
  database,
  clock,
}: {
  readonly database: Pick<Database, 'observeQueries'>;
  readonly clock: Pick<Clock, 'now'>;
}): Tracer {
  const traces: Trace[] = [];
  let listsBackground = (): boolean => false;

  const tracer: Tracer = {
    span: (kind, name, work) => (recordings === 0 ? work() : runSpan({ kind, name, owner: null }, work)),
    spanToEnd: (kind, name) => void (recordings > 0 && openSpan({ kind, name, owner: null })),
    forOwner: (owner) => ({
      span: (name, work) =>
        recordings === 0
          ? work(ignoreAttributes)
          : runSpan({ kind: 'call', name, owner }, (span) => work(describer(span))),
    }),
    list: () => [...traces].reverse(),
    listBackground: (isWanted) => void (listsBackground = isWanted),
    background(name, work) {
      if (recordings > 0 && storage.getStore()?.trace.isOver === false)
        return runSpan({ kind: 'handler', name, owner: null }, work);
      const isListed = listsBackground();
      if (!isListed && !hasProvider()) return work();
      return tracer.record({ id: randomUUID(), name, kind: 'background', isListed }, ({ end }) =>
        settle(work, (error) => end({ error })),
      );
    },
    record({ id, name, kind = 'request', headers = {}, isListed = true }, work) {
      if (recordings === 0) startObserving();
      database.observeQueries(beginQuery);
      recordings += 1;
      const startedAt = clock.now();
      const trace = createRunning({ name, kind, headers }, isListed);
      const end: Recording['end'] = (outcome) => {
        if (trace.isOver) return;
        trace.isOver = true;
        recordings -= 1;
        if (recordings === 0) stopObserving();
        const finished = finish(trace);
        trace.provided?.end(outcome);
        if (isListed) traces.push({ id, name, kind, startedAt, ...finished });
        if (traces.length > mostTraces) traces.shift();
      };
      const run = () =>
        storage.run({ trace, parent: null }, () => {
          // The storage, which starts here, is no part of the request.
          trace.begin = performance.now();
          return work({ totals: () => sumByKind(trace), end });
        });
      return trace.provided === null ? run() : trace.provided.run(run);
    },
  };
  return tracer;
}

function createRunning(about: Required<Pick<RecordInit, 'name' | 'kind' | 'headers'>>, isListed: boolean): Running {
  const provided = hasProvider() ? startProviderSpan(about) : null;
  const parent = readParent(about.headers);
  const isSampled = provided?.isSampled ?? false;
  return {
    ...(provided !== null && isSampled ? pickIdentity(provided) : createIdentity(parent?.traceId)),
    ...{ provided, isRecorded: isListed || isSampled },
    ...{ parentSpanId: parent?.spanId ?? null, state: parent?.state ?? '' },
    ...{ begin: 0, spans: [], isCut: false, isOver: false },
  };
}

const pickIdentity = ({ traceId, spanId }: ProviderSpan): Pick<Trace, 'traceId' | 'spanId'> => ({ traceId, spanId });

type SpanInit = Pick<TraceSpan, 'kind' | 'name' | 'owner'>;

function runSpan<Result>(init: SpanInit, work: (span?: MutableSpan) => Result): Result {
  const frame = storage.getStore();
  const index = frame === undefined ? null : addSpan(frame, init);
  if (frame === undefined || index === null) return work();
  const { trace } = frame;
  const span = trace.spans[index];
  const provided = span?.provided ?? null;
  const run = (): Result => storage.run({ trace, parent: index }, work, span);
  return settle(
    () => (provided === null ? run() : provided.run(run)),
    (error) => endSpan(trace, index, error),
  );
}

const ignoreAttributes = (): void => undefined;

function describer(span: MutableSpan | undefined): (attributes: SpanAttributes) => void {
  return (attributes) => {
    if (span === undefined || span.duration !== null) return;
    span.attributes = { ...span.attributes, ...attributes };
    span.provided?.describe(attributes);
  };
}

/** Runs the work and calls `end` when it has ended, with the error if it failed. */
function settle<Result>(work: () => Result, end: (error?: unknown) => void): Result {
  try {
    const result = work();
    // Only the caller handles a rejection.
    if (result instanceof Promise) result.then(() => end(), end);
    else end();
    return result;
  } catch (error) {
    end(error);
    throw error;
  }
}

/** One function for all hosts: a statement is observed once. */
const beginQuery = (sql: string): (() => void) => openSpan({ kind: 'query', name: sql, owner: null });

/** Returns the function that ends the span. */
function openSpan(init: SpanInit): () => void {
  const frame = recordings === 0 ? undefined : storage.getStore();
  const index = frame === undefined ? null : addSpan(frame, init);
  return () => {
    if (frame !== undefined && index !== null) endSpan(frame.trace, index);
  };
}

function addSpan({ trace, parent }: Frame, { kind, name: fullName, owner }: SpanInit): number | null {
  if (trace.isOver || !trace.isRecorded) return null;
  if (trace.spans.length >= mostSpans) {
    trace.isCut = true;
    return null;
  }
  const start = performance.now() - trace.begin;
  const name = fullName.slice(0, 500);
  const above = (parent === null ? null : trace.spans[parent]?.provided) ?? trace.provided;
  const provided = above?.isSampled === true ? above.startChild({ kind, name, owner }) : null;
  if (kind === 'handler') trace.provided?.setRoute(name);
  const spanId = provided?.spanId ?? createSpanId();
  return trace.spans.push({ kind, name, owner, start, duration: null, parent, spanId, provided }) - 1;
}

function endSpan({ spans, begin, isOver }: Running, index: number, error?: unknown): void {
  const span = spans[index];
  if (!span || span.duration !== null || isOver) return;
  span.duration = performance.now() - begin - span.start;
  span.provided?.end({ error });
}

/** Spans that have not ended, such as an upstream's stream that the client left, end with the request. */
function finish({ spans, begin, isCut, ...trace }: Running): Omit<Trace, 'id' | 'kind' | 'name' | 'startedAt'> {
  const duration = performance.now() - begin;
  const ended = spans.map(({ provided, ...span }) => {
    if (span.duration === null) provided?.end();
    return { ...span, duration: span.duration ?? duration - span.start };
  });
  const { traceId, spanId, parentSpanId } = trace;
  return {
    traceId,
    spanId,
    parentSpanId,
    duration,
    isCut,
    spans: ended,
    explained: duration === 0 ? 100 : (coveredBy(ended) / duration) * 100,
  };
}

function sumByKind({ spans, begin }: Running): Map<SpanKind, { count: number; duration: number }> {
  const now = performance.now() - begin;
  const kinds = new Set(spans.map(({ kind }) => kind));
  return new Map(
    [...kinds].map((kind) => {
      const own = spans.filter((span) => span.kind === kind);
      const duration = coveredBy(own.map((span) => ({ ...span, duration: span.duration ?? now - span.start })));
      return [kind, { count: own.length, duration }];
    }),
  );
}

/** Milliseconds that at least one of the spans covers. */
function coveredBy(spans: readonly Pick<TraceSpan, 'start' | 'duration'>[]): number {
  let covered = 0;
  let end = 0;
  for (const { start, duration } of [...spans].sort((left, right) => left.start - right.start)) {
    covered += Math.max(0, start + duration - Math.max(start, end));
    end = Math.max(end, start + duration);
  }
  return covered;
}

interface UndiciMessage {
  readonly request: {
    readonly method?: string;
    readonly origin?: string | URL;
    readonly path?: string;
    /** Names and values in turn. */
    readonly headers?: readonly unknown[] | string;
    addHeader?(name: string, value: string): void;
  };
}

/** Passes the trace on with an outgoing request, unless what instruments the process has done so. */
function propagate({ trace }: Frame, index: number | null, request: UndiciMessage['request']): void {
  if (request.headers?.includes('traceparent') === true) return;
  const { traceId, spanId, spans, isRecorded, state } = trace;
  const parentId = (index === null ? undefined : spans[index]?.spanId) ?? spanId;
  request.addHeader?.('traceparent', `00-${traceId}-${parentId}-${isRecorded ? '01' : '00'}`);
  if (state !== '') request.addHeader?.('tracestate', state);
}

/** Observes callbacks of hooks, and requests of every undici and `fetch` of the process. */
function startObserving(): void {
  observeCallbacks(({ hook, owner }, run) => runSpan({ kind: 'hook', name: hook, owner }, run));
  undos.push(() => observeCallbacks(null));
  const open = new WeakMap<object, () => void>();
  const listen = (channel: string, listener: (message: UndiciMessage) => void): void => {
    const onMessage = (message: unknown): void => listener(message as UndiciMessage);
    subscribe(channel, onMessage);
    undos.push(() => void unsubscribe(channel, onMessage));
  };
  listen('undici:request:create', ({ request }) => {
    const { method = 'GET', origin = '', path = '' } = request;
    const name = `${method} ${String(origin)}${path.split('?', 1)[0] ?? ''}`;
    const frame = storage.getStore();
    if (frame === undefined || frame.trace.isOver) return;
    const index = addSpan(frame, { kind: 'outbound', name, owner: null });
    if (index !== null) open.set(request, () => endSpan(frame.trace, index));
    propagate(frame, index, request);
  });
  for (const channel of ['undici:request:trailers', 'undici:request:error'])
    listen(channel, ({ request }) => open.get(request)?.());
}

function stopObserving(): void {
  for (const undo of undos.splice(0)) undo();
}

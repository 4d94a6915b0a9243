import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { createRequire } from 'node:module';
import { errorText, type Logger } from '#plugin-api';
import type { Attributes, Context, Span, SpanContext } from '@opentelemetry/api';
import type { TelemetrySettings } from './start/config.ts';
import type { SpanKind, Trace, TraceSpan } from './tracer.ts';

type Api = typeof import('@opentelemetry/api');

/** Where `@opentelemetry/api` 1.x registers what the copies of a process share. */
const shared = Symbol.for('opentelemetry.js.api.1');

/** Whether a plugin or the operator registered a provider of tracers. Loads nothing. */
export function hasProvider(): boolean {
  return (globalThis as { [shared]?: { readonly trace?: unknown } })[shared]?.trace !== undefined;
}

const require = createRequire(import.meta.url);
let loaded: Api | undefined;
const loadApi = (): Api => (loaded ??= require('@opentelemetry/api') as Api);

/** Milliseconds between two lines of the log about a collector that does not take what is sent. */
const complaintInterval = 300_000;

/**
 * Registers OpenTelemetry's SDK, which sends spans in the background to the collector that the environment names. Spans that the
 * collector does not take are dropped after its retries; requests never wait for it. Each process sends its own.
 *
 * @returns sends what is left, for at most the time-out of the exporter (`OTEL_EXPORTER_OTLP_TIMEOUT`, 10 s). Null where a
 * provider is registered already, which decides instead.
 */
export async function startExport(
  { isParentBased, ratio }: TelemetrySettings,
  { log, version, now }: { readonly log: Pick<Logger, 'warn'>; readonly version: string; readonly now: () => number },
): Promise<(() => Promise<void>) | null> {
  if (hasProvider()) return null;
  const [{ OTLPTraceExporter }, sdk, { AsyncLocalStorageContextManager }, resources] = await Promise.all([
    import('@opentelemetry/exporter-trace-otlp-proto'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/context-async-hooks'),
    import('@opentelemetry/resources'),
  ]);
  const { context, diag, DiagLogLevel, trace } = loadApi();
  let complainedAt = -Infinity;
  const complain = (message: string): void => {
    if (now() - complainedAt < complaintInterval) return;
    complainedAt = now();
    log.warn('OpenTelemetry could not send spans', {
      event: 'telemetry_failed',
      reason: message.slice(0, 500),
      next: 'Check OTEL_EXPORTER_OTLP_ENDPOINT and the collector',
    });
  };
  const ignore = (): void => undefined;
  diag.setLogger(
    { error: complain, warn: complain, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const root = new sdk.TraceIdRatioBasedSampler(ratio);
  const provider = new sdk.TracerProvider({
    sampler: isParentBased ? new sdk.ParentBasedSampler({ root }) : root,
    resource: resources
      .resourceFromAttributes({ 'service.name': 'svc', 'service.version': version })
      .merge(resources.detectResources({ detectors: [resources.envDetector, resources.serviceInstanceIdDetector] })),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(provider);
  return () => provider.shutdown().catch((error: unknown) => complain(errorText(error)));
}

/** What identifies a span in other processes (W3C Trace Context). */
export interface SpanIdentity {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
}

export function createIdentity(traceId = randomBytes(16).toString('hex')): SpanIdentity {
  return { traceId, spanId: createSpanId() };
}

export const createSpanId = (): string => randomBytes(8).toString('hex');

const traceparent = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;

/** The span of another process that sent the request, or null. */
export function readParent(
  headers: IncomingHttpHeaders,
): (SpanIdentity & { readonly flags: number; readonly state: string }) | null {
  const [, traceId, spanId, flags = '00'] = traceparent.exec(String(headers['traceparent'] ?? '')) ?? [];
  if (traceId === undefined || spanId === undefined) return null;
  return { traceId, spanId, flags: parseInt(flags, 16), state: String(headers['tracestate'] ?? '').slice(0, 512) };
}

/** A span of the registered provider. */
export interface ProviderSpan extends SpanIdentity {
  /** Whether the provider wants what happens in it. */
  readonly isSampled: boolean;
  startChild(part: Pick<TraceSpan, 'kind' | 'name' | 'owner'>): ProviderSpan;
  /** Runs the work with this span as the active one, for plugins that start spans of their own. */
  run<Result>(work: () => Result): Result;
  describe(attributes: Attributes): void;
  /** Names the span of a request by its route instead of its path. */
  setRoute(route: string): void;
  end(outcome?: SpanOutcome): void;
}

export interface SpanOutcome {
  /** What was thrown. */
  readonly error?: unknown;
  /** Of the response. */
  readonly status?: number;
}

export interface RootInit {
  /** Method and path, or what runs in the background. */
  readonly name: string;
  readonly kind: Trace['kind'];
  readonly headers: IncomingHttpHeaders;
}

/** Starts the span of a request or a job: below an active one, else below that of the caller. Loads the API once. */
export function startProviderSpan({ name, kind, headers }: RootInit): ProviderSpan {
  const { context, trace, createTraceState, ROOT_CONTEXT, SpanKind: kinds } = loadApi();
  const remote = readParent(headers);
  const active = context.active();
  const parent =
    remote === null || trace.getSpan(active) !== undefined
      ? active
      : trace.setSpanContext(ROOT_CONTEXT, {
          traceId: remote.traceId,
          spanId: remote.spanId,
          traceFlags: remote.flags,
          traceState: createTraceState(remote.state),
          isRemote: true,
        } satisfies SpanContext);
  const spanKind = kind === 'request' ? kinds.SERVER : kinds.INTERNAL;
  return open({ name, spanKind, attributes: rootAttributes({ name, kind }) }, parent);
}

interface SpanInit {
  readonly name: string;
  readonly spanKind: number;
  readonly attributes: Attributes;
}

function open({ name, spanKind, attributes }: SpanInit, parent: Context): ProviderSpan {
  const { context, trace } = loadApi();
  const span: Span = trace.getTracer('svc').startSpan(name, { kind: spanKind, attributes }, parent);
  const own = trace.setSpan(parent, span);
  const { traceId, spanId } = span.spanContext();
  return {
    ...{ traceId, spanId, isSampled: span.isRecording() },
    startChild: (part) => open(describeSpan(part), own),
    run: (work) => context.with(own, work),
    describe: (attributes) => void span.setAttributes(attributes),
    setRoute: (route) => void span.updateName(route).setAttribute('http.route', route.replace(/^\S+ /, '')),
    end: (outcome) => endSpan(span, outcome),
  };
}

function endSpan(span: Span, { error, status }: SpanOutcome = {}): void {
  const { SpanStatusCode } = loadApi();
  if (status !== undefined) span.setAttribute('http.response.status_code', status);
  if (error !== undefined) span.recordException(error instanceof Error ? error : String(error));
  if (error !== undefined || (status ?? 0) >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

function rootAttributes({ name, kind }: Pick<RootInit, 'name' | 'kind'>): Record<string, string> {
  if (kind !== 'request') return {};
  const [method = '', path = ''] = name.split(' ', 2);
  return { 'http.request.method': method, 'url.path': path };
}

/** `SpanKind` of the API; that of the protocol is greater by one. */
const internal = 0;
const client = 2;

const clientKinds: readonly SpanKind[] = ['query', 'outbound'];

/** A part of a trace by the semantic conventions of OpenTelemetry. */
function describeSpan({ kind, name, owner }: Pick<TraceSpan, 'kind' | 'name' | 'owner'>): SpanInit {
  const [first = '', rest = ''] = name.split(' ', 2);
  return {
    name: nameOf({ kind, name, first }),
    spanKind: clientKinds.includes(kind) ? client : internal,
    attributes: {
      'svc.kind': kind,
      ...(owner !== null && { 'svc.plugin': owner }),
      ...(kind === 'query' && { 'db.query.text': name }),
      ...(kind === 'outbound' && { 'http.request.method': first, 'url.full': rest }),
    },
  };
}

function nameOf({ kind, name, first }: Pick<TraceSpan, 'kind' | 'name'> & { readonly first: string }): string {
  if (kind === 'query') return first.toUpperCase();
  if (kind === 'outbound') return first;
  return kind === 'call' ? name : `${kind} ${name}`;
}

/** A trace as `ExportTraceServiceRequest` of the protocol in JSON (OTLP), which collectors read. */
export function toOtlp(trace: Trace, { version }: { readonly version: string }): Record<string, unknown> {
  const { traceId } = trace;
  // Nanoseconds, in whole microseconds. Added as integers: a double of the date is only exact to a quarter of a microsecond.
  const at = (milliseconds: number): string =>
    String((BigInt(trace.startedAt) * 1000n + BigInt(Math.round(milliseconds * 1000))) * 1000n);
  const times = (start: number, duration: number) => ({
    startTimeUnixNano: at(start),
    endTimeUnixNano: at(start + duration),
  });
  const root = {
    ...{ traceId, spanId: trace.spanId, parentSpanId: trace.parentSpanId ?? '' },
    ...{ name: trace.name, kind: trace.kind === 'request' ? 2 : 1, ...times(0, trace.duration) },
    attributes: toAttributes(rootAttributes(trace)),
    status: {},
  };
  const parts = trace.spans.map(({ spanId, parent, start, duration, ...part }) => {
    const { name, spanKind, attributes } = describeSpan(part);
    const parentSpanId = parent === null ? trace.spanId : (trace.spans[parent]?.spanId ?? trace.spanId);
    return {
      ...{ traceId, spanId, parentSpanId, name, kind: spanKind + 1, ...times(start, duration) },
      ...{ attributes: toAttributes({ ...attributes, ...part.attributes }), status: {} },
    };
  });
  const resource = { attributes: toAttributes({ 'service.name': 'svc', 'service.version': version }) };
  return {
    resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'svc', version }, spans: [root, ...parts] }] }],
  };
}

function toAttributes(attributes: Attributes): { key: string; value: object }[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: toOtlpValue(value) }));
}

function toOtlpValue(value: unknown): object {
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value !== 'number') return { stringValue: String(value) };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

import { asRecord } from './values.ts';

export interface RestErrorInit {
  /** Machine-readable code, for example `rest_forbidden`. */
  readonly code: string;
  /** One sentence that says what to do. It is sent unchanged: no secrets, no paths. */
  readonly message: string;
  /** HTTP status, 400..599. Default 500. */
  readonly status?: number;
  /** Members of `data` beside `status`, or any other JSON value. */
  readonly data?: unknown;
  /** Extra response headers, for example `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Further errors in the same response (`additional_errors`). */
  readonly additional?: readonly RestError[];
  /** The underlying error. Only logged. */
  readonly cause?: unknown;
}

/**
 * An error for a REST caller, in the shape `{code, message, data: {status}}` (contract 7, D4).
 * Any thrown object with a string `code` and an integer `status` (400..599) is treated the same, for plugins
 * that cannot import this class.
 */
export class RestError extends Error {
  readonly code: string;
  readonly status: number;
  readonly data: unknown;
  readonly headers: Readonly<Record<string, string>>;
  readonly additional: readonly RestError[];

  constructor(init: RestErrorInit) {
    super(init.message, init.cause === undefined ? undefined : { cause: init.cause });
    this.name = 'RestError';
    this.code = init.code;
    this.status = init.status ?? 500;
    this.data = init.data;
    this.headers = init.headers ?? {};
    this.additional = init.additional ?? [];
  }
}

/** A `RestError` of the three members that most have. */
export function restError(status: number, code: string, message: string): RestError {
  return new RestError({ code, message, status });
}

/** The header that says when to try again. @param wait milliseconds */
export function retryAfter(wait: number): { readonly 'Retry-After': string } {
  return { 'Retry-After': String(Math.max(1, Math.ceil(wait / 1000))) };
}

/** Seconds of the `Retry-After` among the `headers` of a thrown value; null without a readable one. */
export function readRetryAfter(error: unknown): number | null {
  const headers = Object.entries(asRecord(asRecord(error)['headers']));
  const seconds = Number(headers.find(([name]) => name.toLowerCase() === 'retry-after')?.[1] ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : null;
}

/** The value that was looked up. @throws RestError if it is null or undefined */
export function requireFound<Value>(
  value: Value | null | undefined,
  { code, message, status }: Required<Pick<RestErrorInit, 'code' | 'message' | 'status'>>,
): Value {
  if (value === null || value === undefined) throw restError(status, code, message);
  return value;
}

/** Status and message of an error. `{name}` in the message is replaced by the member `name` of the details. */
export type ErrorCatalogueEntry = readonly [status: number, sentence: string];

export interface ErrorDetails {
  /** Values for the `{name}` placeholders of the message. */
  readonly values?: Readonly<Record<string, string | number>>;
  /** Members of `data` beside `status`. */
  readonly data?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** Names of the placeholders of a sentence that is written as one literal. */
type PlaceholdersOf<Sentence extends string> = Sentence extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PlaceholdersOf<Rest>
  : never;

/** With a value for each placeholder, so that none is left in what a caller reads. */
interface DetailsOf<Sentence extends string> extends ErrorDetails {
  readonly values?: Readonly<Record<PlaceholdersOf<Sentence>, string | number>>;
}

/**
 * Creates one function per catalogue entry that builds its RestError: `errors.bot_not_found({values: {id: 7}})`.
 *
 * @param prefix prefix of each code, for example `rest_svc_`.
 */
export function defineErrors<const Catalogue extends Readonly<Record<string, ErrorCatalogueEntry>>>(
  prefix: string,
  catalogue: Catalogue,
): { readonly [Name in keyof Catalogue]: (details?: DetailsOf<Catalogue[Name][1]>) => RestError } {
  const factories: Record<string, (details?: ErrorDetails) => RestError> = {};
  for (const [name, [status, sentence]] of Object.entries(catalogue)) {
    factories[name] = (details = {}) =>
      new RestError({
        code: prefix + name,
        message: sentence.replace(/\{(\w+)\}/g, (placeholder, key: string) =>
          String(details.values?.[key] ?? placeholder),
        ),
        status,
        ...(details.data && { data: details.data }),
        ...(details.headers && { headers: details.headers }),
        ...(details.cause !== undefined && { cause: details.cause }),
      });
  }
  return factories as { readonly [Name in keyof Catalogue]: (details?: DetailsOf<Catalogue[Name][1]>) => RestError };
}

import { AsyncLocalStorage } from 'node:async_hooks';
import { TimeoutError } from 'tarn';
import { currentRequest } from '#plugin-api';

/** Messages of the drivers; knex prefixes them with the statement. */
const connectionMessages =
  /(^| - )(Connection terminated|Client has encountered a connection error|Client was closed|timeout expired|Connection ended|Query read timeout)[\w ]*$/i;

/** Connection errors, read-only, retryable transactions, no resources, lock timeouts, operator intervention, system errors. */
const postgresqlStates = /^(08...|25006|25P03|40...|53...|55P03|57P..|57014|58...)$/;
const sqliteCodes = /^SQLITE_(BUSY|LOCKED|FULL|IOERR|CANTOPEN|PROTOCOL|NOMEM|READONLY)/;
/** A full disk, for the database and for files. */
const diskCodes = /^(ENOSPC|EDQUOT)$/;

const ofConnections = new WeakSet<object>();

/** Levels of `cause` that are read. */
const maxDepth = 10;

/** An error of a connection to the database, with which its statements fail too; whatever keeps a site from it passes. */
export function markConnectionError(error: Error): void {
  ofConnections.add(error);
}

/**
 * The one place that decides whether an error, or one of its causes, is an outage of the database or its disk that passes: locked,
 * full, unreachable, shutting down, or a statement that was cancelled. See DatabaseApi.
 */
export function isUnavailable(error: unknown): boolean {
  let each = error;
  for (let depth = 0; depth < maxDepth && each instanceof Error; depth++) {
    if (isOutage(each)) return true;
    each = each.cause;
  }
  return false;
}

function isOutage(error: Error): boolean {
  const code = codeOf(error);
  return (
    ofConnections.has(error) ||
    postgresqlStates.test(code) ||
    sqliteCodes.test(code) ||
    diskCodes.test(code) ||
    error.name === 'KnexTimeoutError' ||
    error instanceof TimeoutError ||
    connectionMessages.test(error.message)
  );
}

function codeOf(error: Error): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** Codes of a server that is starting, full, or not yet in the network; a wrong password or name does not pass. */
const lateCodes =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|08...|53300|57P0[123])$/;

/** Whether a PostgreSQL that does not respond may do so soon. */
export function mayComeUp(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // A name with several addresses: one error for each.
  const [first = error] = error instanceof AggregateError ? (error.errors as Error[]) : [error];
  return lateCodes.test(codeOf(first)) || connectionMessages.test(first.message);
}

/** Milliseconds that a statement of an HTTP request may take. Those of jobs and commands have no limit. */
const requestLimit = 8_000;

const limits = new AsyncLocalStorage<number>();

/** Runs work whose statements may each take so many milliseconds on PostgreSQL; Infinity: any time, such as for migrations. */
export function withStatementLimit<Result>(limit: number, work: () => Result): Result {
  return limits.run(limit, work);
}

/** Milliseconds that a statement which is sent now may take. */
export function statementLimit(): number {
  return limits.getStore() ?? (currentRequest()?.ip ? requestLimit : Infinity);
}

/** Seconds after which a caller may try again. */
export const retryAfter = '5';

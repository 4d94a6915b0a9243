/** Words of the driver; knex puts the statement before them. */
const sayings =
  /(^| - )(Connection terminated|Client has encountered a connection error|Client was closed|timeout expired|Connection ended)[\w ]*$/i;

/** Errors of sockets, of the driver and of knex's pool: no connection was to be had, or it broke. */
export function isWithoutConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && /^E[A-Z_]{3,}$/.test(code)) return true;
  return error.name === 'KnexTimeoutError' || sayings.test(error.message);
}

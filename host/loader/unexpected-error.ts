/**
 * Whether an error is a mistake of the plugin whose code threw it. REST errors, which have a `code` and a `status`, are
 * refusals, and a request that was aborted ends in an `AbortError`.
 */
export function isUnexpectedError(error: unknown): boolean {
  const { code, status, name } = (error ?? {}) as { code?: unknown; status?: unknown; name?: unknown };
  if (name === 'AbortError') return false;
  return !(
    typeof code === 'string' &&
    Number.isInteger(status) &&
    (status as number) >= 400 &&
    (status as number) <= 599
  );
}

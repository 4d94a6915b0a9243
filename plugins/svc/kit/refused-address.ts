/**
 * Returns why the outbound guard refused an address (D23), or null for any other error. Clients wrap the error of their
 * `fetch`, so its causes are searched.
 */
export function refusedAddress(thrown: unknown): string | null {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 6; error = error.cause, depth += 1)
    if ((error as { readonly code?: unknown }).code === 'outbound_refused')
      return `its URL may not be called: ${error.message}`;
  return null;
}

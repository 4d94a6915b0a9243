const longest = 60;

/**
 * Seconds an answer asks to wait: `Retry-After` of a 429 or 503, whole seconds or a date, at most 60 (D21). Null when it
 * asks for nothing that can be read, or for a time gone by.
 *
 * @param now milliseconds since the epoch
 */
export function retryAfterOf(status: number, headers: Readonly<Record<string, string>>, now: number): number | null {
  const value = headers['retry-after']?.trim();
  if ((status !== 429 && status !== 503) || !value) return null;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - now) / 1000;
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(longest, seconds) : null;
}

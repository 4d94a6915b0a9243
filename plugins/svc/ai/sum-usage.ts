type Usage = Readonly<Record<string, unknown>>;

/**
 * The usage data of several calls as one: numbers added, objects member by member; of anything else the first is kept.
 * Null where no call reported any.
 */
export function sumUsage(usages: readonly (Usage | null)[]): Usage | null {
  return usages.reduce((sum, usage) => (sum === null || usage === null ? (sum ?? usage) : added(sum, usage)), null);
}

function added(sum: Usage, usage: Usage): Usage {
  const result: Record<string, unknown> = { ...sum };
  for (const [name, value] of Object.entries(usage)) {
    const before = Object.hasOwn(sum, name) ? sum[name] : undefined;
    if (typeof value === 'number' && typeof before === 'number') result[name] = before + value;
    else if (isObject(value) && isObject(before)) result[name] = added(before, value);
    else if (before === undefined || before === null) result[name] = value;
  }
  return result;
}

function isObject(value: unknown): value is Usage {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

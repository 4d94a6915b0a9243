/**
 * A function whose code is loaded when it is first called: a start does not pay for what may never be used. Calls at the
 * same time share one load; after a load that failed the next call tries again.
 *
 * @param load loads and makes the function: `async () => (await import('./report.ts')).createReport(host)`. Give it an
 *   `import()` of a file of your own plugin, never a name from outside.
 */
export function lazy<Args extends readonly unknown[], Result>(
  load: () => Promise<(...args: Args) => Result | Promise<Result>>,
): (...args: Args) => Promise<Result> {
  let loading: ReturnType<typeof load> | undefined;
  return async (...args) => {
    const attempt = (loading ??= load());
    try {
      await attempt;
    } catch (error) {
      if (loading === attempt) loading = undefined;
      throw error;
    }
    return (await attempt)(...args);
  };
}

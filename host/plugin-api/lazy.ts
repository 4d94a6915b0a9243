/**
 * A function whose code loads on the first call, so that unused code does not slow the start. Concurrent calls share one
 * load; after a failed load the next call tries again.
 *
 * @param load loads and creates the function: `async () => (await import('./report.ts')).createReport(host)`. Import only
 *   files of your own plugin, never a name from external input.
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

/** A value that is loaded by the first call, and again if that failed: `lazyValue(async () => (await import('./plans.ts')).plans)`. */
export function lazyValue<Value>(load: () => Promise<Value>): () => Promise<Value> {
  return lazy(async () => {
    const value = await load();
    return () => value;
  });
}

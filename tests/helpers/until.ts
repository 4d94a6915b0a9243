const shortest = 2;
const longest = 25;

/**
 * Looks again and again until the condition holds. Rejects with what was waited for when it does not in time. The pauses
 * grow, in milliseconds: a look often is a request or a query, and one that follows another at once takes the processor from
 * the work that is waited for.
 */
export async function until(what: string, holds: () => boolean | Promise<boolean>, deadline = 30_000): Promise<void> {
  const end = performance.now() + deadline;
  for (let pause = shortest; !(await holds()); pause = Math.min(longest, pause * 1.5)) {
    if (performance.now() > end) throw new Error(`Waited ${String(deadline)} ms in vain: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

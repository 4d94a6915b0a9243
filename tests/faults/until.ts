const step = 10;

/** Looks again and again until the condition holds. Rejects with what was waited for when it does not in time. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, deadline = 30_000): Promise<void> {
  const end = performance.now() + deadline;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`Waited ${String(deadline)} ms in vain: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, step));
  }
}

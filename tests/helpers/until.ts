import { AssertionError, expect } from 'chai';

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

/**
 * Reads again and again until what is read equals what is expected, deeply. Rejects with both when that does not happen in
 * time. For what an action brings about later: Playwright waits until it can act, and not for what its action does.
 */
export async function becomes<Value>(
  read: () => Value | Promise<Value>,
  expected: Value,
  deadline = 30_000,
): Promise<void> {
  const end = performance.now() + deadline;
  for (let pause = shortest; ; pause = Math.min(longest, pause * 1.5)) {
    try {
      expect(await read()).to.deep.equal(expected);
      return;
    } catch (error) {
      if (!(error instanceof AssertionError) || performance.now() > end) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/**
 * The least processor time of several runs, in milliseconds: of this process with all its threads, so a host under test must run
 * in it. Unlike elapsed time, other processes of the machine hardly change it.
 */
export async function leastProcessorTime(run: () => Promise<unknown>, runs = 3): Promise<number> {
  let least = Infinity;
  for (let count = 0; count < runs; count += 1) {
    const before = process.cpuUsage();
    await run();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}

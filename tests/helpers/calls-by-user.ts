import type { TestHost } from '#testing';

/** Calls of a module that the ledger holds, by the id of the user that they were made for; 0: a guest, or the site itself. */
export async function callsByUser({ cli }: Pick<TestHost, 'cli'>, module: string): Promise<Record<string, number>> {
  const { code, out, err } = await cli('svc', 'usage', '--by=user_id', `--module=${module}`, '--json');
  if (code !== 0) throw new Error(err);
  const totals = JSON.parse(out) as readonly { readonly user_id: string; readonly calls: number }[];
  return Object.fromEntries(totals.map(({ user_id: id, calls }) => [id, calls]));
}

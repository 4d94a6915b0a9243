/** What a promise rejects with; throws when it does not. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    return error;
  }
  throw new Error(`It did not fail, but answered ${JSON.stringify(value)}.`);
}

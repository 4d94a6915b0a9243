import { faultsOf, invalidFields } from '../../../kit/field-errors.ts';

/**
 * Saves a part of a bot. Faults of that part lose its path at their beginning, those of other parts keep theirs.
 *
 * @param path of the part, such as `rules[3]`
 */
export async function ownFaults<Result>(path: string, save: () => Promise<Result>): Promise<Result> {
  try {
    return await save();
  } catch (error) {
    const faults = faultsOf(error);
    if (!faults) throw error;
    throw invalidFields(
      Object.fromEntries(
        Object.entries(faults).map(([name, sentence]) =>
          name.startsWith(`${path}.`)
            ? [name.slice(path.length + 1), sentence.replace(`${path}.`, '')]
            : [name, sentence],
        ),
      ),
    );
  }
}

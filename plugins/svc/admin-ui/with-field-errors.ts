import type { AdminActionResult } from '#plugin-api';
import { faultsOf, type FieldFaults } from '../kit/field-errors.ts';

export interface RefuseInit {
  /** Puts a field's name into the form's own: `api_key` -> `settings[api_key]`. */
  readonly inputName: (name: string) => string;
  /** The page with the form as it was typed. */
  readonly page: (faults: FieldFaults) => Promise<NonNullable<AdminActionResult['page']>>;
}

/**
 * Runs `save`; where it throws invalid fields, answers the page again with a sentence at each of them, and for callers
 * with JavaScript `data.faults` by input name. Other errors pass.
 */
export async function savingOrRefused(
  save: () => Promise<AdminActionResult>,
  init: RefuseInit,
): Promise<AdminActionResult> {
  try {
    return await save();
  } catch (error) {
    const faults = faultsOf(error);
    if (!faults) throw error;
    const sentences = Object.values(faults);
    const text =
      sentences.length === 1 && sentences[0] !== undefined
        ? sentences[0]
        : 'Nothing was saved. Correct the marked fields.';
    return {
      notice: { kind: 'error', text },
      page: await init.page(faults),
      data: {
        faults: Object.fromEntries(Object.entries(faults).map(([name, sentence]) => [init.inputName(name), sentence])),
      },
      status: 400,
    };
  }
}

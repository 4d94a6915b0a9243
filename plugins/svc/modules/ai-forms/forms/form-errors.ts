import { nameErrors, type KnownNames } from '../../../kit/assistants/known-names.ts';
import type { SettingErrors } from '../../../kit/settings-schema/check-shape.ts';
import { duplicateErrors } from '../../../kit/settings-schema/check-shape.ts';
import { domainErrors } from '../../../kit/visitors/allowed-domain.ts';
import type { FormElement, FormSettings } from './form.ts';
import { templateErrors } from './prompt-template.ts';

/** Megabytes of a file. */
export const largestFile = 5;
/** Megabytes of all files of a submission. */
export const largestFiles = 12;

/**
 * What is wrong with settings whose members are right one by one.
 *
 * @param before what a change began with: a provider or store that is gone since it was saved is not an error of a change to something else
 */
export function formErrors(settings: FormSettings, known: KnownNames, before: FormSettings | null): SettingErrors {
  return {
    ...nameErrors(settings, known, before),
    ...domainErrors(settings.embed),
    ...elementErrors(settings.elements),
    ...(settings.prompt.trim() === ''
      ? {
          prompt:
            'prompt must not be empty: write what the model is to do, with {id} of a field where its value belongs.',
        }
      : templateErrors(settings.prompt, settings.elements)),
  };
}

function elementErrors(elements: readonly FormElement[]): SettingErrors {
  const errors: SettingErrors = duplicateErrors(
    'elements',
    elements.map(({ id }) => id),
  );
  elements.forEach((element, at) => {
    const here = `elements[${String(at)}]`;
    const { type, options, min, max } = element;
    if (['select', 'radio', 'checkbox'].includes(type) && options.length === 0)
      errors[`${here}.options`] = `${here}.options must hold at least one option.`;
    Object.assign(
      errors,
      duplicateErrors(
        `${here}.options`,
        options.map(({ value }) => value),
        'value',
      ),
    );
    if (min !== null && max !== null && min > max)
      errors[`${here}.max`] = `${here}.max must not be smaller than the least.`;
    if (type === 'file' && max !== null && !(max > 0 && max <= largestFile))
      errors[`${here}.max`] = `${here}.max must be from 0.1 to ${String(largestFile)} megabytes.`;
    if (type !== 'number' && type !== 'file') {
      if (min !== null && (min < 0 || !Number.isInteger(min)))
        errors[`${here}.min`] = `${here}.min must be a whole number, 0 or more.`;
      if (max !== null && (max < 1 || !Number.isInteger(max)))
        errors[`${here}.max`] = `${here}.max must be a whole number, 1 or more.`;
    }
  });
  return errors;
}

import { nameErrors, type KnownNames } from '../../../kit/assistants/known-names.ts';
import type { SettingErrors } from '../../../kit/field-errors.ts';
import { duplicateErrors } from '../../../kit/field-errors.ts';
import { outputFieldErrors } from '../../../kit/output-fields.ts';
import { domainErrors } from '../../../kit/visitors/allowed-domain.ts';
import type { FormElement, FormSettings } from './form.ts';
import { templateErrors } from './prompt-template.ts';

/** Maximum size of a file, in megabytes. */
export const maxFileSize = 5;
/** Maximum size of all files of a submission, in megabytes. */
export const maxTotalFileSize = 12;

/**
 * Errors between settings that are valid one by one.
 *
 * @param before settings before the change, so that a provider or store that was removed since then is no error
 */
export function formErrors(settings: FormSettings, known: KnownNames, before: FormSettings | null): SettingErrors {
  return {
    ...nameErrors(settings, known, before),
    ...domainErrors(settings.embed),
    ...elementErrors(settings.elements),
    ...outputFieldErrors(settings.output, 'output'),
    ...(settings.prompt.trim() === ''
      ? {
          prompt: 'prompt must not be empty. Describe the task and insert values with {id} of a field.',
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
      errors[`${here}.options`] = `${here}.options must contain at least one option.`;
    Object.assign(
      errors,
      duplicateErrors(
        `${here}.options`,
        options.map(({ value }) => value),
        'value',
      ),
    );
    if (min !== null && max !== null && min > max)
      errors[`${here}.max`] = `${here}.max must not be less than the minimum.`;
    const isUpload = type === 'file' || type === 'image';
    if (isUpload && max !== null && !(max > 0 && max <= maxFileSize))
      errors[`${here}.max`] = `${here}.max must be from 0.1 to ${String(maxFileSize)} megabytes.`;
    if (type !== 'number' && !isUpload) {
      if (min !== null && (min < 0 || !Number.isInteger(min)))
        errors[`${here}.min`] = `${here}.min must be a whole number, 0 or more.`;
      if (max !== null && (max < 1 || !Number.isInteger(max)))
        errors[`${here}.max`] = `${here}.max must be a whole number, 1 or more.`;
    }
  });
  return errors;
}

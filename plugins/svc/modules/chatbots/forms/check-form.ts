import { RestError } from '#plugin-api';
import { aliasesOf } from './aliases.ts';
import type { BotForm, CheckedForm, FormElement, FormValues } from './form.ts';
import { readElement, type ElementValue } from './read-element.ts';

/**
 * Checks what a visitor filled in, on the server whatever the browser did before: every element by its type, required ones
 * for being there; values of unknown elements are left out. Pure.
 *
 * @param values by id of the element, as the browser sent them.
 * @throws RestError 400 `rest_invalid_param`, `data.params` with a sentence for each bad element by its id (D4).
 */
export function checkForm(form: BotForm, values: Readonly<Record<string, unknown>>): CheckedForm {
  const faults: Record<string, string> = {};
  const inputs: Record<string, ElementValue> = {};
  const display: Record<string, string> = {};
  const labels: Record<string, string> = {};
  const filled: [FormElement, ElementValue][] = [];
  for (const element of form.elements) {
    const read = readElement(element, Object.hasOwn(values, element.id) ? values[element.id] : undefined);
    if ('fault' in read) {
      faults[element.id] = read.fault;
      continue;
    }
    inputs[element.id] = read.value;
    display[element.id] = read.display;
    labels[element.id] = element.label;
    filled.push([element, read.value]);
  }
  if (Object.keys(faults).length > 0) throw invalid(faults);
  const aliases = aliasesOf(filled);
  const named = Object.entries(aliases).filter(([alias]) => !Object.hasOwn(inputs, alias));
  return {
    inputs: { ...inputs, ...Object.fromEntries(named) } satisfies FormValues,
    display_values: { ...display, ...Object.fromEntries(named.map(([alias, value]) => [alias, String(value)])) },
    labels,
    summary: form.elements
      .map(({ id, label }) => `${label}: ${display[id] === '' ? '-' : (display[id] ?? '')}`)
      .join('\n'),
  };
}

function invalid(faults: Readonly<Record<string, string>>): RestError {
  return new RestError({
    code: 'rest_invalid_param',
    status: 400,
    message: `Invalid parameter(s): ${Object.keys(faults).join(', ')}`,
    data: {
      params: faults,
      details: Object.fromEntries(
        Object.entries(faults).map(([id, message]) => [id, { code: 'rest_invalid_form_value', message, data: null }]),
      ),
    },
  });
}

import { RestError } from '#plugin-api';
import type { BotForm, CheckedForm, FormElement, FormValues } from './form.ts';
import { readElement, type ElementValue, type HiddenFacts } from './read-element.ts';
import { foldText } from '../../../kit/fold-text.ts';

/** Names of common fields for receivers, whatever the form calls them (contract 6.5). */
type Alias = 'email' | 'first_name' | 'last_name' | 'phone' | 'company';

/** Ids and labels of each alias, folded and with `_` between words. */
const names: Readonly<Record<Alias, readonly string[]>> = {
  email: ['email', 'e_mail', 'mail', 'email_address', 'e_mail_address', 'your_email', 'work_email', 'business_email'],
  first_name: ['first_name', 'firstname', 'given_name', 'forename', 'vorname', 'prenom', 'nombre', 'fornavn'],
  last_name: [
    'last_name',
    'lastname',
    'family_name',
    'surname',
    'nachname',
    'nom',
    'nom_de_famille',
    'apellido',
    'apellidos',
    'etternavn',
    'efternavn',
  ],
  phone: [
    'phone',
    'telephone',
    'phone_number',
    'telephone_number',
    'tel',
    'mobile',
    'mobile_number',
    'cell',
    'cell_phone',
    'telefon',
    'telefono',
    'handy',
  ],
  company: [
    'company',
    'company_name',
    'organisation',
    'organization',
    'business',
    'business_name',
    'firma',
    'entreprise',
    'empresa',
  ],
};
const fullName = ['name', 'full_name', 'fullname', 'your_name'];

/**
 * The values of common fields, by alias: of the first element whose id or label is one of the names. For email and phone
 * the first element of that type also matches. A field for the full name is split at its last space. What the visitor
 * entered comes before hidden elements.
 */
function findAliases(filled: readonly (readonly [FormElement, ElementValue])[]): Partial<Record<Alias, string>> {
  const entered = filled.filter(([{ type }]) => type !== 'hidden');
  const texts = [...entered, ...filled.filter(([{ type }]) => type === 'hidden')].filter(
    (entry): entry is readonly [FormElement, string | number] =>
      (typeof entry[1] === 'string' || typeof entry[1] === 'number') && entry[1] !== '',
  );
  const found: Partial<Record<Alias, string>> = {};
  for (const [alias, known] of Object.entries(names) as [Alias, readonly string[]][]) {
    const match = texts.find(([element]) => isNamed(element, known)) ?? texts.find(([{ type }]) => type === alias);
    if (match) found[alias] = String(match[1]);
  }
  const whole = texts.find(([element]) => isNamed(element, fullName));
  if (whole && found.first_name === undefined && found.last_name === undefined)
    Object.assign(found, splitName(String(whole[1])));
  return found;
}

function isNamed({ id, label }: FormElement, known: readonly string[]): boolean {
  return known.includes(normalizeName(id)) || known.includes(normalizeName(label));
}

function normalizeName(text: string): string {
  return foldText(text)
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '');
}

function splitName(text: string): { first_name: string; last_name?: string } {
  const names = text.trim().split(/\s+/);
  const last = names.length > 1 ? names.at(-1) : undefined;
  return last === undefined
    ? { first_name: text.trim() }
    : { first_name: names.slice(0, -1).join(' '), last_name: last };
}

/**
 * Validates what a visitor submitted: every element by its type, and that required ones are filled. The browser's own
 * checks do not count. Values of unknown elements are left out, and so are sent values of hidden ones, which only the
 * server fills.
 *
 * @param values By id of the element, as the browser sent them.
 * @param facts What fills the hidden elements.
 * @throws RestError 400 `rest_invalid_param`, `data.params` with a sentence for each invalid element by its id (D4).
 */
export function checkForm(form: BotForm, values: Readonly<Record<string, unknown>>, facts: HiddenFacts): CheckedForm {
  const errors: Record<string, string> = {};
  const inputs: Record<string, ElementValue> = {};
  const display: Record<string, string> = {};
  const labels: Record<string, string> = {};
  const filled: [FormElement, ElementValue][] = [];
  for (const element of form.elements) {
    const sent = Object.hasOwn(values, element.id) ? values[element.id] : undefined;
    const read = readElement(element, sent, facts);
    if ('error' in read) {
      errors[element.id] = read.error;
      continue;
    }
    inputs[element.id] = read.value;
    display[element.id] = read.display;
    labels[element.id] = element.label;
    filled.push([element, read.value]);
  }
  if (Object.keys(errors).length > 0) throw invalid(errors);
  const aliases = findAliases(filled);
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

function invalid(errors: Readonly<Record<string, string>>): RestError {
  return new RestError({
    code: 'rest_invalid_param',
    status: 400,
    message: `Invalid parameter(s): ${Object.keys(errors).join(', ')}`,
    data: {
      params: errors,
      details: Object.fromEntries(
        Object.entries(errors).map(([id, message]) => [id, { code: 'rest_invalid_form_value', message, data: null }]),
      ),
    },
  });
}

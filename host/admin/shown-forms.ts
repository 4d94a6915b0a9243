import { createHash } from 'node:crypto';
import type { DomUtils } from 'htmlparser2';

type Element = ReturnType<typeof DomUtils.getElementsByTagName>[number];
type Library = typeof import('htmlparser2');

/** A field of a form that a page shows. */
interface ShownField {
  readonly label: string;
  readonly value: string;
  /** The value as a person reads it. */
  readonly text: string;
}

interface ShownForm {
  /** Name of its action. */
  readonly action: string;
  /** Distinguishes the forms of a page: a hash of the action and hidden fields. */
  readonly key: string;
  /** Index after the opening tag. */
  readonly start: number;
  readonly fields: ReadonlyMap<string, ShownField>;
}

/** What another save changed: the label and the current value of a field. */
export interface FieldChange {
  readonly name: string;
  readonly label: string;
  readonly now: string;
}

export interface Stamp {
  readonly action: string;
  /** Value of the field `_shown`. */
  readonly shown: string;
}

/**
 * Adds the field `_shown` to each form of a page: a hash of each value that it shows, and the query of the page. A form with a
 * field `version` checks by itself, and one with `data-proposal` shows nothing that is stored.
 *
 * @param page its query; after a refused action, the stamp of the form that was sent, which stays what it was
 */
export async function stampForms(
  html: string,
  { query, sent }: { readonly query: string; readonly sent?: Stamp | undefined },
): Promise<string> {
  let stamped = html;
  for (const form of (await readForms(html)).reverse()) {
    const fresh = new URLSearchParams({ '?': query, '#': form.key });
    for (const [name, { value }] of form.fields) fresh.set(name, hash(value));
    const isSent = sent !== undefined && new URLSearchParams(sent.shown).get('#') === form.key;
    const text = (isSent ? sent.shown : fresh.toString()).replaceAll('&', '&amp;').replaceAll('"', '');
    const field = `<input type="hidden" name="_shown" value="${text}">`;
    stamped = stamped.slice(0, form.start) + field + stamped.slice(form.start);
  }
  return stamped;
}

/** Text after the `?` of the page that showed the form. */
export function shownQuery(shown: string): string {
  return new URLSearchParams(shown).get('?') ?? '';
}

/** The fields of a form that have other values on its page now than when it was shown. Empty if the form is gone. */
export async function changedFields(html: string, { action, shown }: Stamp): Promise<readonly FieldChange[]> {
  const before = new URLSearchParams(shown);
  const forms = (await readForms(html)).filter((form) => form.action === action);
  const form = forms.find(({ key }) => key === before.get('#')) ?? (forms.length === 1 ? forms[0] : undefined);
  if (!form) return [];
  const names = new Set([...before.keys(), ...form.fields.keys()].filter((name) => name !== '?' && name !== '#'));
  return [...names].flatMap((name) => {
    const field = form.fields.get(name);
    if (field && before.get(name) === hash(field.value)) return [];
    return [{ name, label: field?.label || name, now: field?.text ?? '' }];
  });
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 8);
}

async function readForms(html: string): Promise<ShownForm[]> {
  if (!/<form\b[^>]*\bmethod="post"/.test(html)) return [];
  const library = await import('htmlparser2');
  const { parseDocument, DomUtils } = library;
  const page = parseDocument(html, { withStartIndices: true });
  const labels = new Map(
    DomUtils.getElementsByTagName('label', page).map((label) => [label.attribs['for'], textOf(label, library)]),
  );
  const controls = Map.groupBy(
    DomUtils.getElementsByTagName((name) => ['input', 'select', 'textarea'].includes(name), page),
    (control) => control.attribs['form'] ?? closest(control, 'form'),
  );
  return DomUtils.getElementsByTagName('form', page).flatMap((form) => {
    const { id = '', action = '', 'data-proposal': proposal } = form.attribs;
    const name = new URL(action, 'http://local.invalid').searchParams.get('action');
    const start = form.children[0]?.startIndex;
    if (name === null || proposal !== undefined || typeof start !== 'number') return [];
    const inside = [...(controls.get(form) ?? []), ...(controls.get(id) ?? [])].filter(isSent);
    const [hidden, visible] = [inside.filter(isHidden), inside.filter((control) => !isHidden(control))];
    if (visible.length === 0 || hidden.some((control) => control.attribs['name'] === 'version')) return [];
    const fields = readFields(visible, labels, library);
    // Those of rows come and go with the rows.
    const others = hidden.filter(({ attribs: { name: own = '' } }) => !own.includes('[') && !fields.has(own));
    const key = hash(
      [name, ...others.map(({ attribs }) => `${attribs['name'] ?? ''}=${attribs['value'] ?? ''}`)].join('&'),
    );
    return [{ action: name, key, start, fields }];
  });
}

const isHidden = ({ attribs }: Element): boolean => attribs['type'] === 'hidden';

/** Files and passwords are never shown; fields of the host itself begin with `_`. */
function isSent({ attribs: { name = '', type = '', disabled } }: Element): boolean {
  return (
    name !== '' && !name.startsWith('_') && disabled === undefined && !/^(file|password|submit|button)$/.test(type)
  );
}

function readFields(
  controls: readonly Element[],
  labels: ReadonlyMap<string | undefined, string>,
  library: Library,
): Map<string, ShownField> {
  const fields = new Map<string, ShownField>();
  for (const [name, group] of Map.groupBy(controls, ({ attribs }) => attribs['name'] ?? '')) {
    const [first] = group;
    if (!first) continue;
    const values = group.flatMap((control) => valuesOf(control, library));
    const labelOf = (control: Element): string =>
      labels.get(control.attribs['id'] ?? '-') ??
      control.attribs['aria-label'] ??
      textOf(closest(control, 'label'), library);
    const isChoice = group.length > 1 || first.attribs['type'] === 'radio' || name.endsWith('[]');
    const legend = isChoice ? textOf(legendOf(first), library) : '';
    const isSwitch = !isChoice && first.attribs['type'] === 'checkbox';
    fields.set(name, {
      label: legend || labelOf(first),
      value: JSON.stringify(values.map(({ value }) => value)),
      text: isSwitch
        ? values.length > 0
          ? 'On'
          : 'Off'
        : values.map(({ text, control }) => text ?? labelOf(control)).join(', '),
    });
  }
  return fields;
}

interface ControlValue {
  readonly control: Element;
  readonly value: string;
  /** Undefined: its label says it. */
  readonly text?: string;
}

/** What a browser would send of a control. */
function valuesOf(control: Element, { DomUtils }: Library): ControlValue[] {
  const { type = '', value = '', checked, multiple } = control.attribs;
  if (control.name === 'select') {
    const options = DomUtils.getElementsByTagName('option', control);
    const chosen = options.filter(({ attribs }) => attribs['selected'] !== undefined);
    const sent = chosen.length > 0 || multiple !== undefined ? chosen : options.slice(0, 1);
    return sent.map((option) => {
      const text = DomUtils.textContent(option).trim();
      return { control, value: option.attribs['value'] ?? text, text };
    });
  }
  if (/^(checkbox|radio)$/.test(type)) return checked === undefined ? [] : [{ control, value }];
  const text = control.name === 'textarea' ? DomUtils.textContent(control) : value;
  return [{ control, value: text, text }];
}

function closest(element: Element, name: string): Element | null {
  for (let at = element.parent as Element | null; at; at = at.parent as Element | null) if (at.name === name) return at;
  return null;
}

function legendOf(control: Element): Element | null {
  const inside = closest(control, 'fieldset')?.children ?? [];
  return (inside as Element[]).find(({ name }) => name === 'legend') ?? null;
}

function textOf(element: Element | null, { DomUtils }: Library): string {
  return element === null ? '' : DomUtils.textContent(element).replace(/\s+/g, ' ').trim();
}

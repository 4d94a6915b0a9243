import type { VisibleElement, FormOption } from '../../forms/form.ts';
import { h, show } from '../../../../kit/browser/dom.ts';

export interface Field {
  readonly element: HTMLElement;
  value(): string | boolean | string[];
  /** The error that the page can detect; empty without one. */
  check(required: string): string;
  /** Shows an error; empty hides it. */
  showError(text: string): void;
  focus(): void;
}

type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/** One element of a form; label, help and error are linked for screen readers. */
export function createField(element: VisibleElement, formKey: string): Field {
  const id = `${formKey}-${element.id}`;
  const help = element.help ? h('p', { class: 'help', id: `${id}-help` }, element.help) : null;
  const error = h('p', { class: 'field-error', id: `${id}-error`, hidden: true });
  const described = help ? `${id}-help ${id}-error` : `${id}-error`;
  const controls = createControls(element, {
    id,
    'aria-describedby': described,
    'aria-required': element.required ? 'true' : null,
  });
  const [first] = controls;
  const label: (Node | string)[] = [element.label];
  if (element.required) label.push(h('span', { class: 'star', 'aria-hidden': 'true' }, ' *'));
  const showError = (text: string): void => {
    error.textContent = text;
    show(error, text !== '');
    for (const control of controls) control.setAttribute('aria-invalid', String(text !== ''));
  };
  const frame = createFrame({ element, controls, label, help, error, id, described });
  // An error stays until the visitor changes the field.
  frame.addEventListener('input', () => {
    showError('');
  });
  return {
    element: frame,
    value: () => readValue(element, controls),
    check(required) {
      const value = readValue(element, controls);
      if (element.required && (value === '' || value === false || (Array.isArray(value) && value.length === 0)))
        return required;
      // The browser's message, in the visitor's language.
      return first && !first.validity.valid ? first.validationMessage : '';
    },
    showError,
    focus: () => first?.focus(),
  };
}

function createControls(element: VisibleElement, attributes: Record<string, string | null>): Control[] {
  const { type, placeholder, options } = element;
  const choice = ({ value }: FormOption, index: number): HTMLInputElement => {
    const input = h('input', {
      type,
      name: attributes.id ?? '',
      value,
      ...attributes,
      id: `${attributes.id}-${index}`,
    });
    return input;
  };
  switch (type) {
    case 'textarea':
      return [h('textarea', { rows: 3, maxlength: 10_000, placeholder, ...attributes })];
    case 'select':
      return [
        h(
          'select',
          attributes,
          h('option', { value: '' }, placeholder),
          ...options.map(({ value, label }) => h('option', { value }, label)),
        ),
      ];
    case 'radio':
    case 'checkbox':
      return options.map(choice);
    case 'consent':
      return [h('input', { type: 'checkbox', ...attributes })];
    default: {
      const kinds = { text: 'text', email: 'email', phone: 'tel', number: 'number' } as const;
      const autocomplete = { text: null, email: 'email', phone: 'tel', number: null }[type];
      return [
        h('input', {
          type: kinds[type],
          placeholder,
          autocomplete,
          maxlength: 500,
          step: type === 'number' ? 'any' : null,
          ...attributes,
        }),
      ];
    }
  }
}

interface FrameParts {
  readonly element: VisibleElement;
  readonly controls: readonly Control[];
  readonly label: readonly (Node | string)[];
  readonly help: HTMLElement | null;
  readonly error: HTMLElement;
  readonly id: string;
  readonly described: string;
}

function createFrame({ element, controls, label, help, error, id, described }: FrameParts): HTMLElement {
  const [control] = controls;
  if (element.type === 'consent')
    return h('div', { class: 'field' }, h('label', { class: 'tick' }, control, h('span', {}, ...label)), help, error);
  if (element.type !== 'radio' && element.type !== 'checkbox')
    return h('div', { class: 'field' }, h('label', { for: id }, ...label), help, control, error);
  const ticks = controls.map((tick, index) =>
    h('label', { class: 'tick' }, tick, h('span', {}, element.options[index]?.label)),
  );
  const role =
    element.type === 'radio' ? { role: 'radiogroup', 'aria-required': element.required ? 'true' : null } : {};
  for (const tick of controls) tick.removeAttribute('aria-required');
  return h(
    'fieldset',
    { class: 'field', 'aria-describedby': described, ...role },
    h('legend', {}, ...label),
    help,
    ...ticks,
    error,
  );
}

function readValue(element: VisibleElement, controls: readonly Control[]): string | boolean | string[] {
  const ticked = (): HTMLInputElement[] => (controls as readonly HTMLInputElement[]).filter(({ checked }) => checked);
  if (element.type === 'consent') return ticked().length > 0;
  if (element.type === 'checkbox') return ticked().map(({ value }) => value);
  if (element.type === 'radio') return ticked()[0]?.value ?? '';
  return controls[0]?.value.trim() ?? '';
}

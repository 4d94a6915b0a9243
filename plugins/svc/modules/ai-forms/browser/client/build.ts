import { h } from '../../../../kit/browser/dom.ts';
import type { FormElement } from '../../forms/form.ts';
import { uploadTypes, type FormView } from '../../public/protocol.ts';

const maxLength = { text: 1_000, textarea: 20_000 } as const;
const maxFileSize = 5;

/** Builds the nodes of the template `svc/ai-forms/form`. Parses no HTML. */
export function buildForm(view: FormView): HTMLFormElement {
  const paragraphs = view.intro
    .split(/\n\s*\n/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
  return h(
    'form',
    { class: 'svcf-form', 'aria-labelledby': 'svcf-title' },
    h(
      'div',
      { class: 'svcf-head' },
      h('h2', { class: 'svcf-title', id: 'svcf-title' }, view.name),
      ...paragraphs.map((part) => h('p', { class: 'svcf-intro' }, part)),
    ),
    h('p', { class: 'svcf-failure', role: 'alert', hidden: true }),
    ...view.elements.map((element) =>
      element.type === 'radio' || element.type === 'checkbox' ? groupOf(element, view) : fieldOf(element, view),
    ),
    view.consent.required && consentOf(view.consent.text),
    h(
      'div',
      { class: 'svcf-actions' },
      h('button', { type: 'submit', class: 'svcf-button svcf-button-main' }, view.texts.submit),
    ),
  );
}

type Messages = Pick<FormView, 'messages'>;

function labelOf({ label, required }: FormElement, { messages }: Messages): (Node | string)[] {
  return required ? [label, ' ', h('span', { class: 'svcf-required' }, messages.required)] : [label];
}

const errorOf = (id: string): HTMLElement =>
  h('p', { class: 'svcf-error svcf-fault', id: `${id}-error`, hidden: true });

function groupOf(element: FormElement, view: Messages): HTMLElement {
  const id = `svcf-${element.id}`;
  return h(
    'fieldset',
    { class: 'svcf-field', 'data-field': element.id },
    h('legend', { class: 'svcf-label' }, ...labelOf(element, view)),
    element.help !== '' && h('p', { class: 'svcf-help' }, element.help),
    ...element.options.map(({ value, label }) =>
      h(
        'label',
        { class: 'svcf-choice' },
        h('input', {
          type: element.type,
          name: `values[${element.id}]${element.type === 'checkbox' ? '[]' : ''}`,
          value,
          required: element.required && element.type === 'radio',
          'aria-describedby': `${id}-error`,
        }),
        ' ',
        h('span', {}, label),
      ),
    ),
    errorOf(id),
  );
}

function fieldOf(element: FormElement, view: Messages): HTMLElement {
  const { id: name, type, help, max } = element;
  const id = `svcf-${name}`;
  return h(
    'div',
    { class: 'svcf-field', 'data-field': name },
    h('label', { class: 'svcf-label', for: id }, ...labelOf(element, view)),
    controlOf(element, { id, choose: view.messages.choose }),
    (type === 'file' || type === 'image') &&
      h('p', { class: 'svcf-help' }, view.messages[type].replace('{size}', String(max ?? maxFileSize))),
    help !== '' && h('p', { class: 'svcf-help', id: `${id}-help` }, help),
    errorOf(id),
  );
}

function controlOf(
  { id: name, type, help, placeholder, required, options, min, max }: FormElement,
  { id, choose }: { readonly id: string; readonly choose: string },
): HTMLElement {
  const common = {
    class: 'svcf-input',
    id,
    name: `values[${name}]`,
    required,
    'aria-describedby': `${id}-error${help === '' ? '' : ` ${id}-help`}`,
  };
  const hint = placeholder === '' ? null : placeholder;
  switch (type) {
    case 'textarea':
      return h('textarea', {
        ...common,
        rows: 5,
        placeholder: hint,
        minlength: min,
        maxlength: max ?? maxLength.textarea,
      });
    case 'select':
      return h(
        'select',
        common,
        h('option', { value: '' }, choose),
        ...options.map(({ value, label }) => h('option', { value }, label)),
      );
    case 'file':
    case 'image':
      return h('input', {
        ...common,
        class: 'svcf-input svcf-file',
        type: 'file',
        accept: uploadTypes[type],
      });
    case 'number':
      return h('input', { ...common, type, step: 'any', placeholder: hint, min, max });
    default:
      return h('input', {
        ...common,
        type: 'text',
        placeholder: hint,
        minlength: min,
        maxlength: max ?? maxLength.text,
      });
  }
}

function consentOf(text: string): HTMLElement {
  return h(
    'div',
    { class: 'svcf-field', 'data-field': 'svc:consent' },
    h(
      'label',
      { class: 'svcf-choice' },
      h('input', { type: 'checkbox', name: 'consent', value: '1', required: true }),
      ' ',
      h('span', {}, text),
    ),
    h('p', { class: 'svcf-error svcf-fault', hidden: true }),
  );
}

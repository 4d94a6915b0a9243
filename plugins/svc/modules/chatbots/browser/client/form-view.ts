import type { VisibleElement } from '../../forms/form.ts';
import { h, show } from '../../../../kit/browser/dom.ts';
import type { FormEntry } from './entry.ts';
import { Failure } from './failure.ts';
import { icon } from './chat-icons.ts';
import { renderMarkdown } from '../../../../kit/browser/markdown.ts';
import type { EntryView } from './message-view.ts';
import type { Environment } from './environment.ts';
import { createField, type Field } from './form-field.ts';

/** A form in the conversation; after the submission a thank-you text replaces it. */
export function createFormView(entry: FormEntry, environment: Environment): EntryView {
  const { form } = entry;
  const fields = new Map<string, Field>(
    form.elements.map((element: VisibleElement) => [element.id, createField(element, entry.key)]),
  );
  const general = h('p', { class: 'field-error', role: 'alert', hidden: true });
  const button = h('button', { type: 'submit', class: 'primary' }, form.submit_label || environment.texts.submit);
  const intro = h('div', { class: 'intro', dir: 'auto' });
  if (form.intro) intro.append(renderMarkdown(form.intro, { imageOrigins: 'any' }));
  const body = h(
    'form',
    { novalidate: true, 'aria-label': form.name, dir: 'auto' },
    form.name ? h('h3', {}, form.name) : null,
    form.intro ? intro : null,
    ...[...fields.values()].map((field) => field.element),
    general,
    button,
  );
  const avatar = environment.createAvatar();
  const element = h('li', { class: 'entry answered' }, avatar, h('div', { class: 'bubble form' }, body));
  const submit = createSubmit({ entry, environment, fields, general, button });
  body.addEventListener('submit', (event) => {
    event.preventDefault();
    void submit();
  });
  let thanked = false;
  return {
    element,
    update() {
      if (entry.thanks === null || thanked) return;
      thanked = true;
      const text = h('div', { class: 'bubble sent', dir: 'auto' }, icon('check'));
      const message = h('div');
      message.append(renderMarkdown(entry.thanks || environment.texts.thanks, { imageOrigins: 'any' }));
      text.append(message);
      element.replaceChildren(avatar, text);
      environment.announce(message.textContent ?? '');
    },
  };
}

interface SubmitParts {
  readonly entry: FormEntry;
  readonly environment: Environment;
  readonly fields: ReadonlyMap<string, Field>;
  readonly general: HTMLElement;
  readonly button: HTMLButtonElement;
}

function createSubmit({ entry, environment, fields, general, button }: SubmitParts): () => Promise<void> {
  const { texts, chat } = environment;
  const showErrors = (errors: Readonly<Record<string, string>>): void => {
    for (const [id, field] of fields) field.showError(errors[id] ?? '');
    const [first] = [...fields].filter(([id]) => errors[id]);
    first?.[1].focus();
  };
  return async () => {
    if (button.disabled) return;
    show(general, false);
    const errors: Record<string, string> = {};
    for (const [id, field] of fields) {
      const error = field.check(texts.required);
      if (error) errors[id] = error;
    }
    showErrors(errors);
    if (Object.keys(errors).length > 0) return;
    button.disabled = true;
    try {
      await chat.submitForm(entry, Object.fromEntries([...fields].map(([id, field]) => [id, field.value()])));
    } catch (error) {
      const invalid = error instanceof Failure ? error.fields : {};
      showErrors(invalid);
      if (!Object.keys(invalid).some((id) => fields.has(id))) {
        general.textContent = navigator.onLine ? texts.error : texts.offline;
        show(general, true);
      }
    } finally {
      button.disabled = false;
    }
  };
}

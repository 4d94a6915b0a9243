import { show } from '../../../../kit/browser/dom.ts';

/** Shows a sentence at each bad field and goes to the first of them; answers whether there was one for every sentence. */
export function showErrors(form: HTMLFormElement, errors: Readonly<Record<string, string>>): boolean {
  let first: HTMLElement | null = null;
  let shown = 0;
  for (const field of form.querySelectorAll<HTMLElement>('[data-field]')) {
    const sentence = errors[field.dataset['field'] ?? ''];
    const place = field.querySelector<HTMLElement>('.svcf-fault');
    if (place) {
      place.textContent = sentence ?? '';
      show(place, sentence !== undefined);
    }
    for (const control of field.querySelectorAll('input, select, textarea')) {
      if (sentence === undefined) control.removeAttribute('aria-invalid');
      else control.setAttribute('aria-invalid', 'true');
    }
    if (sentence === undefined) continue;
    shown++;
    first ??= field.querySelector('input, select, textarea');
  }
  first?.focus();
  return shown === Object.keys(errors).length;
}

/** The sentence above the fields; empty: none. */
export function showFailure(form: HTMLFormElement, sentence: string): void {
  const place = form.querySelector<HTMLElement>('.svcf-failure');
  if (!place) return;
  place.textContent = sentence;
  show(place, sentence !== '');
}

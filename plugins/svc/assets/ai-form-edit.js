// Enhances the builder of AI forms, which works without it.
import { startRows } from './bot-rows.js';
import { offerModels, watchChanges } from './editing.js';

// Where a post is shown, what its HTML says must do nothing.
if (!document.querySelector(':root.admin')) throw new Error('not-in-admin');

const editor = document.querySelector('form[data-editor]');
if (editor) {
  startRows(editor);
  watchChanges(editor);
  offerModels(editor);
  startPlaceholders(editor);
  startPreview(editor);
  openInvalidParts();
}

/** Inserts the placeholder of a field into the prompt at the cursor. */
function startPlaceholders(form) {
  form.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('[data-placeholder]') : null;
    const prompt = form.elements.namedItem('prompt');
    if (!button || !(prompt instanceof HTMLTextAreaElement)) return;
    prompt.focus();
    prompt.setRangeText(button.dataset.placeholder, prompt.selectionStart, prompt.selectionEnd, 'end');
    prompt.dispatchEvent(new Event('input', { bubbles: true }));
  });
}

/** Updates the preview shortly after a change. */
function startPreview(form) {
  let timer;
  let latest = 0;
  const later = () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => void refresh(), 500);
  };
  form.addEventListener('input', later);
  form.addEventListener('change', later);
  form.addEventListener('bot:rows', later);

  async function refresh() {
    const current = ++latest;
    try {
      const response = await fetch(form.dataset.previewAction, {
        method: 'POST',
        body: new URLSearchParams(new FormData(form)),
        headers: { Accept: 'text/html' },
      });
      const page = new DOMParser().parseFromString(await response.text(), 'text/html');
      if (current !== latest || !response.ok) return;
      replaceFrom(page, '[data-placeholders]');
      const preview = document.querySelector('[data-form-preview]');
      const fresh = page.querySelector('[data-form-preview] svc-form');
      const shown = preview?.querySelector('svc-form');
      // Do not disturb a form in use.
      if (!fresh || !shown || shown.contains(document.activeElement) || shown.querySelector('[aria-busy=true]')) return;
      const answer = shown.querySelector('.svcf-result');
      const values = new Map(
        [...shown.querySelectorAll('input:not([type=hidden]):not([type=file]), select, textarea')].map((control) => [
          `${control.name} ${control.type === 'radio' || control.type === 'checkbox' ? control.value : ''}`,
          control,
        ]),
      );
      const next = document.adoptNode(fresh);
      for (const control of next.querySelectorAll('input:not([type=hidden]):not([type=file]), select, textarea')) {
        const isTick = control.type === 'radio' || control.type === 'checkbox';
        const before = values.get(`${control.name} ${isTick ? control.value : ''}`);
        if (before && isTick) control.checked = before.checked;
        else if (before) control.value = before.value;
      }
      shown.replaceWith(next);
      if (answer) next.append(answer);
    } catch {
      // The preview stays. Saving reports errors.
    }
  }
}

function replaceFrom(page, selector) {
  const fresh = page.querySelector(selector);
  if (fresh) document.querySelector(selector)?.replaceWith(document.adoptNode(fresh));
}

/** Opens the closed section of a field when its error link is clicked. */
function openInvalidParts() {
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('#errors a') : null;
    const target = link && document.querySelector(link.getAttribute('href'));
    for (let part = target?.closest('details'); part; part = part.parentElement?.closest('details')) part.open = true;
    if (target) window.setTimeout(() => target.focus());
  });
}

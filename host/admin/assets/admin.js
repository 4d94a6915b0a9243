// Conveniences of the admin. Every page works without them.
document.documentElement.classList.add('js');

const find = (selector, root = document) => [...root.querySelectorAll(selector)];

document.addEventListener('click', (event) => {
  const target = event.target instanceof Element ? event.target : null;
  const copyButton = target?.closest('[data-copy]');
  if (copyButton) void copy(copyButton);
  target?.closest('[data-dismiss]')?.closest('.notice')?.remove();
  const toggle = target?.closest('[data-menu-toggle]');
  if (toggle) toggleMenu(toggle);
  for (const menu of find('details[data-menu][open]')) if (!menu.contains(target)) menu.open = false;
});

document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return;
  for (const menu of find('details[data-menu][open]')) {
    menu.open = false;
    menu.querySelector('summary')?.focus();
  }
});

async function copy(button) {
  const source = button.parentElement?.querySelector('[data-copy-source]');
  const label = button.querySelector('[data-copy-text]') ?? button;
  const before = label.textContent;
  try {
    await navigator.clipboard.writeText(source?.textContent ?? '');
    label.textContent = 'Copied';
  } catch {
    // Without a clipboard (plain http, say) the text is selected for the keyboard.
    if (source) getSelection()?.selectAllChildren(source);
    label.textContent = 'Press Ctrl+C';
  }
  window.setTimeout(() => (label.textContent = before), 2000);
}

function toggleMenu(button) {
  const menu = document.getElementById(button.getAttribute('aria-controls') ?? '');
  const isOpen = menu?.classList.toggle('open') ?? false;
  button.setAttribute('aria-expanded', String(isOpen));
}

document.addEventListener('submit', (event) => {
  const form = event.target;
  const button = event.submitter;
  if (event.defaultPrevented || !(form instanceof HTMLFormElement)) return;
  if (form.dataset.confirm && !confirm(form.dataset.confirm)) {
    event.preventDefault();
    return;
  }
  if (form.hasAttribute('data-sending')) {
    event.preventDefault();
    return;
  }
  const isAsync = form.hasAttribute('data-async') || button?.hasAttribute('data-async');
  if (isAsync) {
    event.preventDefault();
    void send(form, button);
  }
  // No page comes after a download that would end the wait.
  if (form.hasAttribute('data-download')) return;
  // After the browser has read the form, or the pressed button's own name and value would be missing.
  window.setTimeout(() => setBusy(form, button, true));
});

// A page that comes back from the browser's history must not stay busy.
addEventListener('pageshow', () => {
  for (const form of find('form[data-sending]')) setBusy(form, form.querySelector('[aria-busy]'), false);
});

function setBusy(form, button, isBusy) {
  form.toggleAttribute('data-sending', isBusy);
  if (!button) return;
  const label = button.querySelector('span:not(.visually-hidden)') ?? button;
  if (isBusy) {
    button.dataset.idleText = label.textContent;
    button.setAttribute('aria-busy', 'true');
    if (button.dataset.busy && label.childElementCount === 0) label.textContent = button.dataset.busy;
  } else {
    button.removeAttribute('aria-busy');
    if (label.childElementCount === 0) label.textContent = button.dataset.idleText ?? label.textContent;
  }
}

/** Sends a form in the background and shows the answer's notice in it. */
async function send(form, button) {
  // Made before the answer comes: screen readers announce what changes in a place they know.
  const place = resultPlace(form);
  const body = new URLSearchParams(new FormData(form, button ?? undefined));
  const address = button?.getAttribute('formaction') || form.action;
  let answer;
  try {
    const response = await fetch(address, { method: 'POST', body, headers: { Accept: 'application/json' } });
    answer = await response.json();
  } catch {
    answer = { notice: { kind: 'error', text: 'The server did not answer. Try again.' } };
  }
  window.setTimeout(() => setBusy(form, button, false));
  if (answer.redirect) {
    location.assign(answer.redirect);
    return;
  }
  showResult(place, answer);
  form.dispatchEvent(new CustomEvent('admin:result', { bubbles: true, detail: answer }));
}

function resultPlace(form) {
  let place = form.querySelector('[data-result]');
  if (!place) {
    place = document.createElement('div');
    place.dataset.result = '';
    form.append(place);
  }
  place.setAttribute('aria-live', 'polite');
  place.classList.add('stack-small');
  return place;
}

function showResult(place, { notice, reveal }) {
  const lines = [];
  if (notice)
    lines.push(
      element('div', { class: `notice notice-${notice.kind}` }, [
        element('div', { class: 'notice-text' }, [notice.text]),
      ]),
    );
  if (reveal) {
    lines.push(element('p', { class: 'field-label' }, [reveal.label]));
    lines.push(
      element('div', { class: 'code' }, [
        element('code', { 'data-copy-source': '' }, [reveal.value]),
        element('button', { type: 'button', class: 'button button-small', 'data-copy': '' }, ['Copy']),
      ]),
    );
  }
  place.replaceChildren(...lines);
}

function element(name, attributes, children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** A rough hint, from length and variety alone; the server's rule is the length. */
for (const hint of find('[data-strength-of]')) {
  const input = document.getElementById(hint.dataset.strengthOf);
  const words = ['Too short', 'Weak', 'Fair', 'Good', 'Strong'];
  input?.addEventListener('input', () => {
    const variety = [/[a-z]/, /[A-Z]/, /\d/, /[^a-zA-Z0-9]/].filter((kind) => kind.test(input.value)).length;
    const bits = new Set(input.value).size * 1.4 + input.value.length * 1.6 + variety * 4;
    const score = input.value.length < 8 ? 0 : Math.min(4, Math.max(1, Math.floor((bits - 12) / 10)));
    hint.hidden = input.value === '';
    hint.querySelector('meter').value = score;
    hint.querySelector('[data-strength-text]').textContent = words[score];
  });
}

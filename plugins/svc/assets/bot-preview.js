// The widget itself beside what is edited: it shows looks and texts as they are typed, and answers as the bot was saved last.

/** Milliseconds without a key pressed, after which the preview follows: it is built anew each time. */
const typingPause = 200;

/** @param {HTMLFormElement | null} form whose fields it follows */
export function startPreview(form) {
  const place = document.querySelector('[data-preview]');
  const frame = place?.querySelector('[data-preview-frame]');
  if (!frame) return;
  const saved = JSON.parse(place.dataset.preview);
  const wait = frame.querySelector('[data-preview-wait]');
  wait.textContent = 'Loading the preview…';

  const script = document.createElement('script');
  script.src = place.dataset.script;
  script.async = true;
  script.addEventListener(
    'error',
    () => (wait.textContent = 'The preview could not be loaded. Reload the page to try again.'),
  );
  // The tag shows no bot by itself; this page says what is shown.
  script.dataset.manual = '';

  let widget = null;
  let shown = '';
  let theme = null;
  const follow = () => {
    if (!widget) return;
    const bot = form?.hasAttribute('data-editor') && !form.hasAttribute('data-rows') ? withTyped(saved, form) : saved;
    const look = { ...bot.look, mode: 'inline', ...(theme && { theme }) };
    const next = JSON.stringify({ ...bot, look });
    if (next === shown) return;
    shown = next;
    widget.preview(JSON.parse(next));
    frame.dataset.theme = look.theme === 'auto' ? '' : look.theme;
  };
  let due = 0;
  const followSoon = () => {
    window.clearTimeout(due);
    due = window.setTimeout(follow, typingPause);
  };
  form?.addEventListener('input', followSoon);
  form?.addEventListener('change', follow);

  script.addEventListener('load', () => {
    widget = document.createElement('svc-chatbot');
    if (typeof widget.preview !== 'function') {
      wait.textContent = 'This browser is too old for the preview.';
      widget = null;
      return;
    }
    widget.setAttribute('bot', place.dataset.bot);
    widget.setAttribute('mode', 'inline');
    // Asking for a session would only fail.
    if ('silent' in place.dataset) widget.setAttribute('still', '');
    follow();
    wait.replaceWith(widget);
  });
  document.head.append(script);

  for (const button of place.querySelectorAll('[data-preview-theme]')) {
    button.addEventListener('click', () => {
      theme = theme === button.dataset.previewTheme ? null : button.dataset.previewTheme;
      for (const other of place.querySelectorAll('[data-preview-theme]'))
        other.setAttribute('aria-pressed', String(other.dataset.previewTheme === theme));
      follow();
    });
  }
}

/** The bot as it would be saved, as far as the widget shows it. What cannot be saved is left as it was. */
function withTyped(saved, form) {
  const typed = readForm(form);
  const look = { ...saved.look };
  for (const [name, value] of Object.entries(typed.look ?? {})) {
    if (typeof saved.look[name] === 'number') {
      if (value !== '' && Number.isFinite(Number(value))) look[name] = Number(value);
    } else if (!name.endsWith('_color') || /^(#[0-9a-f]{6})?$/i.test(value)) look[name] = value;
  }
  return {
    ...saved,
    name: typed.name || saved.name,
    greeting: typed.greeting ?? saved.greeting,
    starters: linesOf(typed.starters).slice(0, 8),
    look,
    texts: { ...saved.texts, ...typed.texts },
    consent: { required: typed.consent?.required === '1', text: typed.consent?.text ?? '' },
    feedback: typed.feedback === '1',
  };
}

function linesOf(text) {
  return (text ?? '')
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** `look[theme]=dark` -> `{look: {theme: 'dark'}}`; of a name given twice the last one counts, as the server reads it. */
function readForm(form) {
  const read = {};
  for (const [name, value] of new FormData(form)) {
    const [, head, member] = /^(\w+)(?:\[(\w+)\])?$/.exec(name) ?? [];
    if (head === undefined || typeof value !== 'string') continue;
    if (member === undefined) read[head] = value;
    else (read[head] ??= {})[member] = value;
  }
  return read;
}

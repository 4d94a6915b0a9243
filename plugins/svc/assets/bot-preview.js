// The widget itself beside what is edited: it shows looks and texts as they are typed, and answers as the bot was saved last.

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
  script.addEventListener('error', () => (wait.textContent = 'The preview could not be loaded. Reload the page to try again.'));
  const widget = document.createElement('svc-chatbot');
  widget.setAttribute('bot', place.dataset.bot);
  widget.setAttribute('mode', 'inline');
  script.addEventListener('load', () => {
    wait.remove();
    frame.append(widget);
    follow();
  });
  document.head.append(script);

  let theme = null;
  const follow = () => {
    const shown = form?.hasAttribute('data-rows') || !form ? saved : withTyped(saved, form);
    const look = { ...shown.look, mode: 'inline', ...(theme && shown.look.theme === 'auto' && { theme }) };
    widget.preview = { ...shown, look };
    frame.dataset.theme = look.theme === 'auto' ? '' : look.theme;
  };
  form?.addEventListener('input', follow);
  form?.addEventListener('change', follow);

  for (const button of place.querySelectorAll('[data-preview-theme]')) {
    button.addEventListener('click', () => {
      theme = theme === button.dataset.previewTheme ? null : button.dataset.previewTheme;
      for (const other of place.querySelectorAll('[data-preview-theme]')) other.setAttribute('aria-pressed', String(other.dataset.previewTheme === theme));
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
  return (text ?? '').split(/\r?\n/).map((line) => line.trim()).filter((line) => line !== '');
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

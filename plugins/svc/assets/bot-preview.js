// The widget beside the editor. Look and texts update while you type; answers use the last saved version of the bot.

// Where a post is shown, what its HTML says must do nothing.
if (!document.querySelector(':root.admin')) throw new Error('not-in-admin');

/** Milliseconds without a key press until the preview updates. Each update builds it again. */
const typingPause = 200;

/** @param {HTMLFormElement | null} form Its fields update the preview. */
export function startPreview(form) {
  const panel = document.querySelector('[data-preview]');
  const frame = panel?.querySelector('[data-preview-frame]');
  if (!frame) return;
  const saved = JSON.parse(panel.dataset.preview);
  const wait = frame.querySelector('[data-preview-wait]');

  const script = document.createElement('script');
  script.src = panel.dataset.script;
  script.async = true;
  script.addEventListener(
    'error',
    () => (wait.textContent = __('The preview could not be loaded. Reload the page to try again.')),
  );
  // The script shows no bot on its own. This page decides what is shown.
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
      wait.textContent = __('This browser is too old for the preview.');
      widget = null;
      return;
    }
    widget.setAttribute('bot', panel.dataset.bot);
    widget.setAttribute('mode', 'inline');
    // A request for a session would fail.
    if ('silent' in panel.dataset) widget.setAttribute('still', '');
    follow();
    wait.replaceWith(widget);
  });
  document.head.append(script);

  for (const button of panel.querySelectorAll('[data-preview-theme]')) {
    button.addEventListener('click', () => {
      theme = theme === button.dataset.previewTheme ? null : button.dataset.previewTheme;
      for (const other of panel.querySelectorAll('[data-preview-theme]'))
        other.setAttribute('aria-pressed', String(other.dataset.previewTheme === theme));
      follow();
    });
  }
}

/** The typed settings that the widget shows. Invalid values keep the saved ones. */
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
    starters: readLines(typed.starters).slice(0, 8),
    look,
    texts: { ...saved.texts, ...typed.texts },
    consent: { required: typed.consent?.required === '1', text: typed.consent?.text ?? '' },
    feedback: typed.feedback === '1',
  };
}

function readLines(text) {
  return (text ?? '')
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** `look[theme]=dark` -> `{look: {theme: 'dark'}}`; if a name is repeated, the last value counts, as on the server. */
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

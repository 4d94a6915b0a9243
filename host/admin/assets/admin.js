// Progressive enhancement: every page works without it.

// Where a post is shown, what its HTML says must do nothing.
if (!document.querySelector(':root.admin')) throw new Error('not-in-admin');

const find = (selector, root = document) => [...root.querySelectorAll(selector)];

document.addEventListener('click', (event) => {
  const target = event.target instanceof Element ? event.target : null;
  const copyButton = target?.closest('[data-copy]');
  if (copyButton) void copy(copyButton);
  target?.closest('[data-dismiss]')?.closest('.notice')?.remove();
  const search = target?.closest('[data-search]');
  if (search && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    void openSearch(search);
  }
  const toggle = target?.closest('[data-menu-toggle]');
  if (toggle) toggleMenu(toggle);
  for (const menu of find('details[data-menu][open]')) if (!menu.contains(target)) menu.open = false;
});

// Shows the marked entry of the menu and of a list, and the marked tab, which may be outside of their scrolling boxes.
// Not by scrollIntoView, which would scroll the page as well.
for (const marked of find('.menu [aria-current], .tabs [aria-current], .split-list [aria-current]')) {
  const box = marked.closest('.menu, .tabs, .split-list');
  const [at, frame] = [marked.getBoundingClientRect(), box.getBoundingClientRect()];
  if (at.bottom > frame.bottom) box.scrollTop += at.bottom - frame.bottom;
  if (at.right > frame.right) box.scrollLeft += at.right - frame.right;
}

// <input type="checkbox" data-check-all="id of a form"> checks all checkboxes of that form.
document.addEventListener('change', ({ target }) => {
  const id = target instanceof HTMLInputElement ? target.dataset.checkAll : undefined;
  if (id === undefined) return;
  for (const box of find(`input[type="checkbox"][form="${CSS.escape(id)}"]`)) box.checked = target.checked;
});

// Parts of a page that take long: <div id="x" data-load="address of a page with the complete #x">.
for (const part of find('[data-load]')) void loadPart(part);

async function loadPart(part) {
  try {
    const response = await fetch(part.dataset.load);
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    const complete = page.getElementById(part.id);
    if (!complete || complete.dataset.load) throw new Error('The part is missing.');
    part.replaceWith(document.adoptNode(complete));
  } catch {
    part.removeAttribute('aria-busy');
    part.replaceChildren(
      element('p', { class: 'field-error', role: 'alert' }, [__('Failed to load. Reload the page.')]),
    );
  }
}

document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return;
  for (const toggle of find('[data-menu-toggle][aria-expanded="true"]')) {
    toggleMenu(toggle);
    toggle.focus();
  }
  for (const menu of find('details[data-menu][open]')) {
    menu.open = false;
    menu.querySelector('summary')?.focus();
  }
});

// The bell counts the alerts: at most once a minute, and always on the pages that list them.
const bell = document.querySelector('[data-alerts]');
if (bell) void countAlerts(bell);

async function countAlerts(link) {
  const listing = [link.pathname, document.querySelector('.bar-site')?.pathname];
  const now = performance.timeOrigin + performance.now();
  const known = JSON.parse(sessionStorage.getItem('svc-alerts') ?? 'null');
  if (known && known.user === link.dataset.user && !listing.includes(location.pathname) && now - known.at < 60_000)
    return showAlertCount(link, known.count);
  try {
    const response = await fetch(link.dataset.alerts, { headers: { Accept: 'application/json' } });
    if (!response.ok) return;
    const { count } = await response.json();
    sessionStorage.setItem('svc-alerts', JSON.stringify({ count, at: now, user: link.dataset.user }));
    showAlertCount(link, count);
  } catch {
    // Offline: the bell stays without a number.
  }
}

function showAlertCount(link, count) {
  if (count === 0) return;
  link.append(element('span', { class: 'bell-count', 'aria-hidden': 'true' }, [count > 99 ? '99+' : String(count)]));
  link.querySelector('.visually-hidden').textContent = __('Alerts ({count})', { count });
}

// Loads the search dialog on first use.
async function openSearch(link) {
  const { open } = await import(link.dataset.searchScript);
  open();
}

document.addEventListener('keydown', (event) => {
  const link = document.querySelector('[data-search]');
  if (!link || event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey)
    return;
  event.preventDefault();
  void openSearch(link);
});

async function copy(button) {
  const source = button.parentElement?.querySelector('[data-copy-source]');
  const label = button.querySelector('[data-copy-text]') ?? button;
  const before = label.textContent;
  try {
    await navigator.clipboard.writeText(source?.textContent ?? '');
    label.textContent = __('Copied');
  } catch {
    // Without clipboard access, for example on plain HTTP, selects the text for copying by keyboard.
    if (source) getSelection()?.selectAllChildren(source);
    label.textContent = __('Press Ctrl+C');
  }
  window.setTimeout(() => (label.textContent = before), 2000);
}

function toggleMenu(button) {
  const menu = document.getElementById(button.getAttribute('aria-controls') ?? '');
  const isOpen = menu?.classList.toggle('open') ?? false;
  button.setAttribute('aria-expanded', String(isOpen));
}

document.addEventListener('submit', (event) => {
  if (event.target instanceof Element && event.target.matches('[data-theme-form]')) {
    event.preventDefault();
    void chooseTheme(event.target, event.submitter);
    return;
  }
  const form = event.target;
  const button = event.submitter;
  if (!(form instanceof HTMLFormElement)) return;
  if (event.defaultPrevented) {
    // A script of the page has sent it.
    if (form.matches(guarded)) forgetChanges(form);
    return;
  }
  const question = questionOf(form);
  if (question && !confirmed.has(form)) {
    event.preventDefault();
    void askBefore(form, button, question);
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
  } else if (isChanged(form) && !reachable.delete(form)) {
    event.preventDefault();
    void checkBefore(form, button);
    return;
  }
  confirmed.delete(form);
  forgetChanges(form);
  // A download loads no new page that would reset the button.
  if (form.hasAttribute('data-download')) return;
  // Deferred until the browser has read the form, because a disabled button would not be submitted.
  window.setTimeout(() => setBusy(form, button, true));
});

// Pages before the sign-in have neither a bar nor a session.
const bar = document.querySelector('.bar-site');
/** What forms held before a person changed it. */
const contents = new WeakMap();
/** Forms that may be sent: the server just responded. */
const reachable = new WeakSet();
const contentOf = (form) =>
  new URLSearchParams([...new FormData(form)].filter(([, value]) => typeof value === 'string')).toString();
const isChanged = (form) => bar !== null && contents.has(form) && contents.get(form) !== contentOf(form);
const forgetChanges = (form) => contents.delete(form);

document.addEventListener('focusin', ({ target }) => {
  // The text of a post is in no field of its form.
  const form = target.form ?? target.closest?.('form');
  if (form?.method === 'post' && form.closest('main') && !contents.has(form)) contents.set(form, contentOf(form));
});

// Forms that show their state or save by themselves ask themselves.
const guarded = 'main form.form[method="post"]:not([data-async], :has([data-save-state]), #post-form)';
window.addEventListener('beforeunload', (event) => {
  if (find(guarded).some(isChanged)) event.preventDefault();
});

/** Sends a changed form once the server would take it: what was typed would be gone otherwise. */
async function checkBefore(form, button) {
  setBusy(form, button, true);
  const isOpen = (await reopenSession()) && (await mayReplace(form, button));
  setBusy(form, button, false);
  if (!isOpen) return void confirmed.delete(form);
  reachable.add(form);
  form.requestSubmit(button);
}

/** False: the person gave up. */
async function reopenSession() {
  for (let state = await sessionState(); state !== 'open'; state = await sessionState())
    if (!(await showDialog(state === 'ended' ? endedDialog() : offlineDialog()))) return false;
  return true;
}

/** Whether nothing was saved since the form was shown, or the person replaces it. */
async function mayReplace(form, button) {
  const { mayReplace: ask } = await import(bar.dataset.editsScript);
  return ask(form, button, { element, post, showDialog });
}

const adminUrl = (path) => new URL(path, bar.href).href;

async function sessionState() {
  try {
    const { status } = await fetch(adminUrl('rest-nonce'), { headers: { Accept: 'application/json' } });
    return status === 401 ? 'ended' : 'open';
  } catch {
    return 'offline';
  }
}

function offlineDialog() {
  return {
    title: __('The server does not respond'),
    children: [element('p', {}, [__('Nothing was sent, and what you entered is still here.')])],
    label: __('Try again'),
    kind: 'primary',
  };
}

function endedDialog() {
  const link = element('a', { href: adminUrl('login'), target: '_blank', rel: 'noopener' }, [
    __('Sign in in a new tab'),
  ]);
  const text = __('Nothing was sent, and what you entered is still here. Sign in, then continue.');
  return {
    title: __('Your session has ended'),
    children: [element('p', {}, [text]), element('p', {}, [link])],
    label: __('Continue'),
    kind: 'primary',
  };
}

/** Forms whose question was just answered with yes. */
const confirmed = new WeakSet();

function questionOf({ dataset, elements }) {
  const value = (name) => elements.namedItem(name)?.value;
  return dataset.confirm ?? value('_question') ?? value(`_questions[${value('do')}]`);
}

// The server asks these questions only where no script has done so.
document.addEventListener('formdata', ({ formData }) => {
  for (const name of [...formData.keys()]) if (/^_question(_(safe|label)|s?(\[|$))/.test(name)) formData.delete(name);
});

async function askBefore(form, button, question) {
  const end = question.indexOf('?') + 1 || question.length;
  const text = question.slice(end).trim();
  const label = button?.querySelector('span:not(.visually-hidden)')?.textContent ?? button?.firstChild?.textContent;
  const isConfirmed = await showDialog({
    title: question.slice(0, end),
    children: text === '' ? [] : [element('p', {}, [text])],
    label: label ?? __('Continue'),
    kind:
      form.elements.namedItem('_question_safe') || button?.classList.contains('button-primary') ? 'primary' : 'danger',
  });
  if (!isConfirmed) return;
  confirmed.add(form);
  form.requestSubmit(button);
}

/** A question in a dialog. False: canceled. */
function showDialog({ title, children, label, kind }) {
  const dialog = element('dialog', { class: 'dialog', 'aria-labelledby': 'dialog-title' }, [
    element('form', { method: 'dialog', class: 'form' }, [
      element('h2', { id: 'dialog-title' }, [title]),
      ...children,
      element('div', { class: 'actions' }, [
        element('button', { class: `button button-${kind}`, value: 'continue' }, [label]),
        element('button', { class: 'button', value: 'cancel', formnovalidate: '' }, [
          label === __('Cancel') ? __('Go back') : __('Cancel'),
        ]),
      ]),
    ]),
  ]);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'continue');
    });
  });
}

// Resets the state of a page that the browser restores from its history.
addEventListener('pageshow', () => {
  for (const form of find('form[data-sending]')) setBusy(form, form.querySelector('[aria-busy]'), false);
});

async function chooseTheme(form, button) {
  document.documentElement.dataset.theme = button.value;
  for (const choice of form.querySelectorAll('button')) choice.setAttribute('aria-pressed', String(choice === button));
  await post(form.action, new URLSearchParams(new FormData(form, button)));
}

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

/** Sends a form in the background and shows the notice of the response in it. */
async function send(form, button) {
  // Created before the response arrives, because screen readers announce changes of existing live regions only.
  const region = resultRegion(form);
  const body = new URLSearchParams(new FormData(form, button ?? undefined));
  const url = button?.getAttribute('formaction') || form.action;
  let result = await post(url, body);
  while (result.code === 'fresh_sign_in_required') {
    const password = await askForPassword(button, body.has('_password') ? result.notice.text : '');
    if (password === null) break;
    body.set('_password', password);
    result = await post(url, body);
  }
  window.setTimeout(() => setBusy(form, button, false));
  if (result.redirect) {
    location.assign(result.redirect);
    return;
  }
  showResult(region, result);
  form.dispatchEvent(new CustomEvent('admin:result', { bubbles: true, detail: result }));
}

async function post(url, body) {
  try {
    const response = await fetch(url, { method: 'POST', body, headers: { Accept: 'application/json' } });
    return await response.json();
  } catch {
    return { notice: { kind: 'error', text: __('The server did not respond. Try again.') } };
  }
}

/** Asks for the password in a dialog, whose button names the action. Null: canceled. */
async function askForPassword(button, error) {
  const input = element('input', {
    class: 'input',
    type: 'password',
    id: 'dialog-password',
    autocomplete: 'current-password',
    required: '',
    'aria-describedby': 'dialog-password-error',
    ...(error && { 'aria-invalid': 'true' }),
  });
  const isConfirmed = await showDialog({
    title: __('Confirm your password'),
    children: [
      element('p', {}, [__('You signed in more than 10 minutes ago. Enter your password to continue.')]),
      element('div', { class: 'field' }, [
        element('label', { class: 'field-label', for: 'dialog-password' }, [__('Password')]),
        input,
        element('p', { class: 'field-error', id: 'dialog-password-error', role: 'alert' }, [error]),
      ]),
    ],
    label: button?.dataset.idleText?.trim() || __('Continue'),
    kind: 'primary',
  });
  return isConfirmed ? input.value : null;
}

function resultRegion(form) {
  let region = form.querySelector('[data-result]');
  if (!region) {
    region = document.createElement('div');
    region.dataset.result = '';
    form.append(region);
  }
  region.setAttribute('aria-live', 'polite');
  region.classList.add('stack-small');
  return region;
}

function showResult(region, { notice, reveal }) {
  const nodes = [];
  if (notice)
    nodes.push(
      element('div', { class: `notice notice-${notice.kind}` }, [
        element('div', { class: 'notice-text' }, [notice.text]),
      ]),
    );
  if (reveal) {
    nodes.push(element('p', { class: 'field-label' }, [reveal.label]));
    nodes.push(
      element('div', { class: 'code' }, [
        element('code', { 'data-copy-source': '' }, [reveal.value]),
        element('button', { type: 'button', class: 'button button-small', 'data-copy': '' }, [__('Copy')]),
      ]),
    );
  }
  region.replaceChildren(...nodes);
}

function element(name, attributes, children = []) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

/** A rough estimate from length and variety. The server checks the length and a list of common passwords. */
for (const hint of find('[data-strength-of]')) {
  const input = document.getElementById(hint.dataset.strengthOf);
  const labels = [__('Too short'), __('Weak'), __('Fair'), __('Good'), __('Strong')];
  input?.addEventListener('input', () => {
    const variety = [/[a-z]/, /[A-Z]/, /\d/, /[^a-zA-Z0-9]/].filter((kind) => kind.test(input.value)).length;
    const bits = new Set(input.value).size * 1.4 + input.value.length * 1.6 + variety * 4;
    const score = input.value.length < 12 ? 0 : Math.min(4, Math.max(1, Math.floor((bits - 12) / 10)));
    hint.hidden = input.value === '';
    hint.querySelector('meter').value = score;
    hint.querySelector('[data-strength-text]').textContent = labels[score];
  });
}

// Checked before they are sent: passwords do not come back after an error.
for (const again of find('input[name="password_again"]')) {
  const { password } = again.form.elements;
  const compare = () =>
    again.setCustomValidity(again.value === password.value ? '' : __('The passwords do not match.'));
  for (const input of [password, again]) input.addEventListener('input', compare);
}
// Before the sign-in, where no page script looks after errors.
if (!bar) document.querySelector('[aria-invalid="true"]')?.focus();

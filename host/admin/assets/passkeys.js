// Sign-in with passkeys and their registration. The forms stay hidden in browsers without passkeys.
import '../simplewebauthn/index.umd.min.js';

// Where a post is shown, what its HTML says must do nothing.
if (!document.querySelector(':root.admin')) throw new Error('not-in-admin');

const { browserSupportsWebAuthn, startAuthentication, startRegistration } = globalThis.SimpleWebAuthnBrowser;

/** Why the browser created or used no passkey, by the name of its error. */
const reasons = {
  NotAllowedError: __('The passkey was not used: the request was canceled or took too long. Try again.'),
  InvalidStateError: __('This device or security key already has a passkey for your account. Use another one.'),
  SecurityError: __('Passkeys do not work at this address. Open the site at the address in its settings.'),
  ConstraintError: __('This device cannot verify you. Set up a PIN, fingerprint or face first.'),
};

const isSupported = browserSupportsWebAuthn();
for (const form of document.querySelectorAll('form[data-passkey]')) {
  form.hidden = !isSupported;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void run(form);
  });
}
for (const element of document.querySelectorAll('[data-without-passkeys]'))
  element.classList.toggle('is-shown', !isSupported);

/** Asks the authenticator, puts its response into the form and sends the form. */
async function run(form) {
  const button = form.querySelector('button[type="submit"]');
  const region = form.querySelector('[data-passkey-error]');
  region.textContent = '';
  button.disabled = true;
  try {
    const { options, challenge } = await readRequest(form);
    const start = form.dataset.passkey === 'create' ? startRegistration : startAuthentication;
    const credential = await start({ optionsJSON: options });
    // A form that is confirmed may have fields of these names itself.
    const prefix = form.dataset.prefix ?? '';
    form.elements.namedItem(`${prefix}credential`).value = JSON.stringify(credential);
    form.elements.namedItem(`${prefix}challenge`).value = challenge;
    copyRemember(form);
    form.submit();
  } catch (error) {
    region.textContent = reasons[error.name] ?? error.message;
  } finally {
    button.disabled = false;
  }
}

/** The options of the form itself, or fresh ones from the server. */
async function readRequest(form) {
  if (form.dataset.options) return JSON.parse(form.dataset.options);
  const response = await fetch(form.dataset.optionsUrl, { method: 'POST' });
  const body = await response.json();
  if (!response.ok) throw new Error(body.message);
  return body;
}

/** "Keep me signed in" is part of the form for the password. */
function copyRemember(form) {
  const remember = form.elements.namedItem('remember');
  const choice = document.querySelector('input[type="checkbox"][name="remember"]');
  if (remember && choice) remember.value = choice.checked ? '1' : '';
}

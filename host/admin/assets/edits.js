// Asks before a form replaces what another tab or person saved after it was opened. Loaded when a changed form is sent.

// Where a post is shown, what its HTML says must do nothing.
if (!document.querySelector(':root.admin')) throw new Error('not-in-admin');

/**
 * Whether nothing was saved since the form was shown, or the person replaces it. A form of an earlier session gets the nonces
 * of the one that there is now.
 */
export async function mayReplace(form, button, { element, post, showDialog }) {
  const { _nonce: nonce, _shown: shown } = form.elements;
  const url = new URL(button?.getAttribute('formaction') || form.getAttribute('action'), location.href);
  if (!nonce || !url.searchParams.has('action')) return true;
  const check = () =>
    post(url, new URLSearchParams({ _nonce: nonce.value, _check: '1', ...(shown && { _shown: shown.value }) }));
  let { code, data } = await check();
  if (code === 'rest_cookie_invalid_nonce') {
    await renewNonces();
    ({ code, data } = await check());
  }
  if (code !== 'edit_conflict') return true;
  if (!(await showDialog(conflictDialog(data.changes, element)))) return false;
  form.append(element('input', { type: 'hidden', name: '_overwrite', value: '1' }));
  return true;
}

function conflictDialog(changes, element) {
  const link = element('a', { href: pageAddress(), target: '_blank', rel: 'noopener' }, [
    __('Show the current version in a new tab'),
  ]);
  const list = changes.map(({ label, now }) =>
    element('li', {}, [
      element('strong', {}, [label]),
      now === '' ? '' : `: ${now.length > 200 ? `${now.slice(0, 200)}…` : now}`,
    ]),
  );
  return {
    title: __('This was changed after you opened it'),
    children: [
      element('p', {}, [__('Nothing was saved, and what you entered is still here. These fields have changed:')]),
      element('ul', { class: 'dialog-list' }, list),
      element('p', {}, [link]),
    ],
    label: __('Save anyway'),
    kind: 'danger',
  };
}

/** After an error the page is that of an action, which the stamp of a form knows. */
function pageAddress() {
  const address = new URL(location.href);
  if (!address.searchParams.has('action')) return address.href;
  const shown = document.querySelector('main form > input[name="_shown"]')?.value;
  return address.origin + address.pathname + `?${new URLSearchParams(shown).get('?') ?? ''}`;
}

/** Nonces belong to a session: takes those of the next one from the same page. */
async function renewNonces() {
  const page = new DOMParser().parseFromString(await (await fetch(pageAddress())).text(), 'text/html');
  const fresh = new Map(
    [...page.forms].map((form) => [form.getAttribute('action'), form.querySelector('input[name="_nonce"]')?.value]),
  );
  for (const form of document.forms) {
    const field = form.querySelector('input[name="_nonce"]');
    if (field) field.value = fresh.get(form.getAttribute('action')) ?? field.value;
  }
}

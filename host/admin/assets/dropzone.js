// Fields for files (partials admin/file-field and admin/dropzone). A file that is dropped on a field is its value. In a form with
// `data-dropzone`, files are sent one after the other by the action of the form, each with its progress and its result. Then the
// part of the page that lists files is read again, and the form has an event `sent`.

// Where a post is shown, what its HTML says must do nothing.
if (!document.querySelector(':root.admin')) throw new Error('not-in-admin');

for (const zone of document.querySelectorAll('.dropzone')) {
  const input = zone.querySelector('input[type="file"]');
  const form = zone.closest('form[data-dropzone]');
  if (form) {
    input.multiple = true;
    input.addEventListener('change', () => {
      void sendAll(form, input, [...input.files]);
      input.value = '';
    });
  }
  for (const name of ['dragover', 'dragleave', 'drop'])
    zone.addEventListener(name, (event) => {
      event.preventDefault();
      zone.classList.toggle('dropzone-over', name === 'dragover');
    });
  zone.addEventListener('drop', ({ dataTransfer: { files } }) => {
    if (form) void sendAll(form, input, [...files]);
    else choose(input, files);
  });
}

/** The first file becomes the value of a field. */
function choose(input, [file]) {
  if (file === undefined) return;
  const one = new DataTransfer();
  one.items.add(file);
  input.files = one.files;
  input.dispatchEvent(new Event('change', { bubbles: true }));
}

async function sendAll(form, input, files) {
  const list = form.querySelector('.upload-list');
  const status = form.querySelector('.upload-status');
  status.textContent = '';
  const rows = files.map((file) => {
    const name = element('span', { translate: 'no' }, file.name);
    const progress = element('progress', { max: '1', value: '0', 'aria-label': file.name });
    const row = element('li', {}, name, progress);
    list.append(row);
    return { file, name, progress };
  });
  let sent = 0;
  for (const { file, name, progress } of rows) {
    const { isSent, text, href } = await send(form, { input, file, progress });
    if (isSent) sent += 1;
    if (isSent && leadsElsewhere(href)) name.replaceChildren(element('a', { href }, file.name));
    progress.replaceWith(
      element('span', { class: `badge badge-${isSent ? 'success' : 'error'}` }, isSent ? __('Uploaded') : __('Failed')),
      ...(isSent ? [] : [element('span', { class: 'field-error' }, text)]),
    );
  }
  await refresh(form.dataset.refresh);
  form.dispatchEvent(new CustomEvent('sent'));
  status.textContent =
    sent === rows.length
      ? __('All files are uploaded.')
      : __('{sent} uploaded, {failed} failed.', { sent, failed: rows.length - sent });
}

function leadsElsewhere(href) {
  return Boolean(href) && new URL(href, location.href).href !== location.href;
}

/** One file by the action of the form, with its other fields. */
function send(form, { input, file, progress }) {
  const body = new FormData(form);
  body.set(input.name, file, file.name);
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open('POST', form.action);
    request.responseType = 'json';
    request.setRequestHeader('Accept', 'application/json');
    request.upload.addEventListener(
      'progress',
      ({ loaded, total }) => (progress.value = total > 0 ? loaded / total : 0),
    );
    request.addEventListener('error', () =>
      resolve({ isSent: false, text: __('The connection was lost. Try again.') }),
    );
    request.addEventListener('load', () => {
      const { notice, redirect } = request.response ?? {};
      resolve({
        isSent: request.status === 200 && notice?.kind === 'success',
        text: notice?.text ?? __('The server refused the file.'),
        href: redirect,
      });
    });
    request.send(body);
  });
}

async function refresh(id) {
  const part = id && document.getElementById(id);
  if (!part) return;
  try {
    const response = await fetch(location.href);
    const fresh = new DOMParser().parseFromString(await response.text(), 'text/html').getElementById(id);
    if (fresh) part.replaceWith(document.adoptNode(fresh));
  } catch {
    // The list stays as it was; the uploads have their links.
  }
}

function element(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

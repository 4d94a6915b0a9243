import { h, openDialog } from './dom.ts';
import { callRest, dataOf, sendFile } from './rest.ts';

/** An image of the library, as REST describes it. */
export interface LibraryImage {
  readonly id: number;
  readonly source_url: string;
  readonly alt_text: string;
  readonly title: { readonly rendered: string };
  readonly media_details: { readonly width?: number; readonly height?: number };
}

const perPage = 18;
const fields = '_fields=id,source_url,alt_text,title,media_details';

/** Lets the user choose an image of the library, or upload some. Resolves with null when it is canceled. */
export async function pickImage(title: string): Promise<LibraryImage | null> {
  return new MediaPicker(title).open();
}

/** The address on this site: previews must come from the origin of the page. */
export function previewUrl({ source_url: url }: Pick<LibraryImage, 'source_url'>): string {
  return new URL(url, location.href).pathname;
}

class MediaPicker {
  readonly #title: string;
  #chosen: LibraryImage | null = null;
  #page = 1;
  #latest = 0;
  readonly #search = h('input', { class: 'input', type: 'search', id: 'media-search', autocomplete: 'off' });
  readonly #grid = h('div', { class: 'media-grid', role: 'radiogroup', 'aria-label': __('Images') });
  readonly #status = h('p', { class: 'small muted', role: 'status' });
  readonly #uploads = h('ul', { class: 'upload-list', 'aria-label': __('Uploads') });
  readonly #previous = h('button', { type: 'button', class: 'button button-small' }, __('Previous'));
  readonly #next = h('button', { type: 'button', class: 'button button-small' }, __('Next'));
  readonly #alt = h('input', { class: 'input', id: 'media-alt', maxlength: 1000, autocomplete: 'off', disabled: true });
  readonly #use = h('button', { class: 'button button-primary', value: 'use', disabled: true }, __('Use image'));

  constructor(title: string) {
    this.#title = title;
    let timer = 0;
    this.#search.addEventListener('input', () => {
      window.clearTimeout(timer);
      timer = window.setTimeout(() => void this.#load(1), 200);
    });
    this.#search.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') event.preventDefault();
    });
    this.#previous.addEventListener('click', () => void this.#load(this.#page - 1));
    this.#next.addEventListener('click', () => void this.#load(this.#page + 1));
  }

  async open(): Promise<LibraryImage | null> {
    void this.#load(1);
    const choice = await openDialog(this.#createDialog());
    const image = this.#chosen;
    if (choice !== 'use' || image === null) return null;
    const alt = this.#alt.value.trim();
    if (alt === image.alt_text) return image;
    // Authors may use images of others, whose texts they cannot change.
    await callRest(`wp/v2/media/${image.id}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ alt_text: alt }),
    }).catch(() => undefined);
    return { ...image, alt_text: alt };
  }

  #createDialog(): HTMLDialogElement {
    const actions = h(
      'div',
      { class: 'actions' },
      this.#use,
      h('button', { class: 'button', value: '', formnovalidate: true }, __('Cancel')),
    );
    return h(
      'dialog',
      { class: 'dialog media-dialog', 'aria-labelledby': 'media-title' },
      h(
        'form',
        { method: 'dialog', class: 'form' },
        h('h2', { id: 'media-title' }, this.#title),
        dataOf('mayUpload') === 'true' && this.#createDropzone(),
        this.#uploads,
        h(
          'div',
          { class: 'field' },
          h('label', { class: 'field-label', for: 'media-search' }, __('Search')),
          this.#search,
        ),
        this.#grid,
        h('div', { class: 'actions' }, this.#previous, this.#next, this.#status),
        h(
          'div',
          { class: 'field' },
          h('label', { class: 'field-label', for: 'media-alt' }, __('Alternative text')),
          this.#alt,
          h(
            'p',
            { class: 'field-help' },
            __('Describes the image for people who cannot see it. Leave empty if the image is decorative.'),
          ),
        ),
        actions,
      ),
    );
  }

  #createDropzone(): HTMLElement {
    const input = h('input', { type: 'file', id: 'media-files', accept: 'image/*', multiple: true });
    const zone = h(
      'div',
      { class: 'dropzone' },
      h('label', { for: 'media-files' }, __('Drop images here, or choose files')),
      input,
    );
    input.addEventListener('change', () => {
      void this.#upload([...(input.files ?? [])]);
      input.value = '';
    });
    for (const name of ['dragover', 'dragleave', 'drop'])
      zone.addEventListener(name, (event) => {
        event.preventDefault();
        zone.classList.toggle('dropzone-over', name === 'dragover');
      });
    zone.addEventListener('drop', ({ dataTransfer }) => void this.#upload([...(dataTransfer?.files ?? [])]));
    return zone;
  }

  /** One after the other: each with its progress, and its error if it has one. */
  async #upload(files: readonly File[]): Promise<void> {
    const rows = files.map((file) => {
      const progress = h('progress', { max: 1, value: 0, 'aria-label': file.name });
      const row = h('li', {}, h('span', {}, file.name), progress);
      this.#uploads.append(row);
      return { file, progress, row };
    });
    for (const { file, progress, row } of rows)
      try {
        const show = (share: number): void => void (progress.value = share);
        const image = await sendFile<LibraryImage>(`wp/v2/media?${fields}`, file, show);
        row.remove();
        this.#grid.prepend(this.#createTile(image));
        this.#choose(image);
      } catch (error) {
        progress.replaceWith(h('span', { class: 'field-error', role: 'alert' }, (error as Error).message));
      }
  }

  async #load(page: number): Promise<void> {
    const turn = ++this.#latest;
    const query = new URLSearchParams({ media_type: 'image', per_page: String(perPage), page: String(page) });
    if (this.#search.value.trim() !== '') query.set('search', this.#search.value.trim());
    this.#status.textContent = __('Loading…');
    try {
      const { body, pages } = await callRest<LibraryImage[]>(`wp/v2/media?${query.toString()}&${fields}`);
      if (turn !== this.#latest) return;
      this.#page = page;
      this.#grid.replaceChildren(...body.map((image) => this.#createTile(image)));
      this.#previous.disabled = page <= 1;
      this.#next.disabled = page >= pages;
      this.#status.textContent =
        body.length === 0 ? __('No images found.') : __('Page {page} of {pages}', { page, pages });
    } catch (error) {
      if (turn === this.#latest) this.#status.textContent = (error as Error).message;
    }
  }

  #createTile(image: LibraryImage): HTMLElement {
    const input = h('input', {
      ...{ type: 'radio', name: 'media', value: image.id, class: 'visually-hidden' },
      checked: image.id === this.#chosen?.id,
      onchange: () => this.#choose(image),
    });
    const name = textOf(image.title.rendered) || __('Image ({id})', { id: image.id });
    return h(
      'label',
      { class: 'media-tile', 'data-media': image.id },
      input,
      h('span', { class: 'media-picture' }, h('img', { src: previewUrl(image), alt: '', loading: 'lazy' })),
      h('span', { class: 'media-text small' }, name),
    );
  }

  #choose(image: LibraryImage): void {
    this.#chosen = image;
    this.#alt.disabled = false;
    this.#alt.value = image.alt_text;
    this.#use.disabled = false;
    const input = this.#grid.querySelector<HTMLInputElement>(`[data-media="${image.id}"] input`);
    if (input) input.checked = true;
  }
}

function textOf(html: string): string {
  const area = document.createElement('textarea');
  area.innerHTML = html;
  return area.value;
}

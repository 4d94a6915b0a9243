import { h } from './dom.ts';
import { pickImage, previewUrl } from './media-picker.ts';
import { dataOf } from './rest.ts';

/** Puts a preview and the media picker in place of the list of images, which stays the field of the form. */
export function addFeaturedImage(select: HTMLSelectElement): void {
  const preview = h('img', { class: 'featured-image', alt: '', hidden: true });
  const choose = h('button', { type: 'button', class: 'button button-small' }, __('Choose image'));
  const remove = h('button', { type: 'button', class: 'button button-small button-quiet' }, __('Remove image'));
  const show = (url: string): void => {
    preview.hidden = url === '';
    remove.hidden = select.value === '0';
    choose.textContent = select.value === '0' ? __('Choose image') : __('Replace image');
    if (url !== '') preview.src = url;
  };
  const set = (id: string, url: string): void => {
    select.value = id;
    select.dispatchEvent(new Event('input', { bubbles: true }));
    show(url);
  };
  choose.addEventListener('click', async () => {
    const image = await pickImage(__('Featured image'));
    choose.focus();
    if (image === null) return;
    const id = String(image.id);
    if (![...select.options].some(({ value }) => value === id)) select.append(new Option(image.title.rendered, id));
    set(id, previewUrl(image));
  });
  remove.addEventListener('click', () => {
    set('0', '');
    choose.focus();
  });
  select.hidden = true;
  select.before(
    preview,
    h('div', { class: 'actions', role: 'group', 'aria-label': __('Featured image') }, choose, remove),
  );
  show(dataOf('imageUrl'));
}

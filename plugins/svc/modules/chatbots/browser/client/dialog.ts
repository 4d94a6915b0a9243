import { smallScreen } from './frame.ts';

/**
 * Makes the window a dialog that Escape closes. On small screens it keeps the focus, and Back closes it instead of leaving the
 * page.
 *
 * @param id of the chatbot, which marks its entry in the history of the page
 */
export function makeDialog(
  element: HTMLElement,
  { id, onClose }: { readonly id: number; readonly onClose: () => void },
): () => void {
  const screen = matchMedia(smallScreen);
  const isMarked = (): boolean => (history.state as { svcChat?: unknown } | null)?.svcChat === id;
  const onBack = (): void => {
    if (!element.hidden && !isMarked()) onClose();
  };
  const observer = new MutationObserver(() => {
    if (element.hidden !== isMarked()) return;
    // The page's own state stays, because its scripts may look at it.
    if (element.hidden) history.back();
    else if (screen.matches) history.pushState({ ...history.state, svcChat: id }, '');
  });
  observer.observe(element, { attributeFilter: ['hidden'] });
  addEventListener('popstate', onBack);
  element.setAttribute('role', 'dialog');
  element.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !event.isComposing) {
      event.stopPropagation();
      onClose();
    } else if (event.key === 'Tab' && screen.matches) trapFocus(element, event);
  });
  return () => {
    observer.disconnect();
    removeEventListener('popstate', onBack);
  };
}

/** Keeps Tab within the window. */
function trapFocus(element: HTMLElement, event: KeyboardEvent): void {
  const all = [
    ...element.querySelectorAll<HTMLElement>('button, textarea, input, select, a[href], summary, [tabindex="0"]'),
  ].filter((item) => item.getClientRects().length > 0 && item.tabIndex >= 0);
  const active = (element.getRootNode() as ShadowRoot).activeElement;
  const [first, last] = [all[0], all[all.length - 1]];
  if (active !== (event.shiftKey ? first : last) && active !== element) return;
  event.preventDefault();
  (event.shiftKey ? last : first)?.focus();
}

/** Passes the visible height to the styles, because an on-screen keyboard covers part of the window. */
export function fitToViewport(element: HTMLElement): () => void {
  const view = window.visualViewport;
  if (!view) return () => undefined;
  const fit = (): void => {
    element.style.setProperty('--view-height', `${view.height}px`);
    element.style.setProperty('--view-top', `${view.offsetTop}px`);
  };
  fit();
  for (const name of ['resize', 'scroll']) view.addEventListener(name, fit);
  return () => {
    for (const name of ['resize', 'scroll']) view.removeEventListener(name, fit);
  };
}

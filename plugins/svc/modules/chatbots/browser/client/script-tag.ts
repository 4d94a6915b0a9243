import { restRootOf, routeAddress } from '../../../../kit/browser/address.ts';
import { reportProblem } from './diagnose.ts';
import { setDefaultRoot } from './element.ts';

/** The script tag this code runs from; module scripts and tags that were merged by optimisers do not announce, so the page is searched. */
function findOwnScript(): HTMLScriptElement | null {
  const current = document.currentScript;
  if (current instanceof HTMLScriptElement && restRootOf(current.src) !== null) return current;
  return (
    [...document.scripts].find((script) => restRootOf(script.src) !== null && !script.hasAttribute('data-svc-done')) ??
    [...document.scripts].find((script) => restRootOf(script.src) !== null) ??
    null
  );
}

/** Does what the script tag asks for: shows the bot of `data-bot`, or the form of `data-form`. Without them the page's own `<svc-chatbot>` elements are all there is. */
export function runScriptTag(): void {
  const script = findOwnScript();
  const root = script && restRootOf(script.src);
  if (!script || root === null)
    return reportProblem(
      'The script does not know where it comes from. Load it by its own tag: <script src="https://site/wp-json/svc-widget/v1/widget.js" data-bot="7" async></script>.',
    );
  setDefaultRoot(root);
  script.setAttribute('data-svc-done', '');
  const whenParsed = (act: () => void): void => {
    if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', act, { once: true });
    else act();
  };
  // Whoever loads it with data-manual makes the elements later.
  if (script.dataset.manual !== undefined) return;
  if (script.dataset.form !== undefined) whenParsed(() => insertForm(script, root));
  if (script.dataset.bot !== undefined) whenParsed(() => place(script, root));
  else if (script.dataset.form !== undefined) return;
  else
    whenParsed(() => {
      if (!document.querySelector('svc-chatbot'))
        reportProblem(
          `Which chatbot? Add its number to the script tag (data-bot="7"), or put <svc-chatbot bot="7"></svc-chatbot> into the page.`,
        );
    });
}

function place(script: HTMLScriptElement, root: string): void {
  const { bot = '', mode, theme, open, target } = script.dataset;
  const element = document.createElement('svc-chatbot');
  element.setAttribute('bot', bot);
  element.setAttribute('root', root);
  const shownAs = mode ?? (target === undefined ? undefined : 'inline');
  if (shownAs !== undefined) element.setAttribute('mode', shownAs);
  if (theme !== undefined) element.setAttribute('theme', theme);
  if (open !== undefined && open !== 'false') element.setAttribute('open', '');
  if (target === undefined) {
    // The same tag twice, as tag managers and page loaders do it, is one bot.
    if (document.querySelector(`svc-chatbot[placed][bot="${CSS.escape(bot)}"]`)) return;
    element.setAttribute('placed', '');
    if (shownAs !== 'popup' && document.body.contains(script)) script.after(element);
    else document.body.append(element);
    return;
  }
  const parent = find(target);
  if (!parent) return reportProblem(`No element of the page fits data-target="${target}".`);
  if (!parent.querySelector(`svc-chatbot[bot="${CSS.escape(bot)}"]`)) parent.append(element);
}

/** An AI form, whose own script is loaded where there is one. Where it stands it is shown, or in `data-target`. */
function insertForm(script: HTMLScriptElement, root: string): void {
  const { form = '', theme, target } = script.dataset;
  const parent = target === undefined ? null : find(target);
  if (target !== undefined && !parent) return reportProblem(`No element of the page fits data-target="${target}".`);
  // The same tag twice, as tag managers and page loaders do it, is one form.
  if ((parent ?? document).querySelector(`svc-form[placed][form="${CSS.escape(form)}"]`)) return;
  const element = document.createElement('svc-form');
  element.setAttribute('form', form);
  element.setAttribute('root', root);
  element.setAttribute('placed', '');
  if (theme !== undefined) element.setAttribute('theme', theme);
  if (parent) parent.append(element);
  else if (document.body.contains(script)) script.after(element);
  else document.body.append(element);
  import(routeAddress(root, '/svc-widget/v1/form.js')).catch(() =>
    reportProblem(
      "The script of forms could not be loaded. The page's content security policy must allow this site as script-src and connect-src.",
    ),
  );
}

function find(selector: string): Element | null {
  try {
    return document.querySelector(selector);
  } catch {
    return null;
  }
}

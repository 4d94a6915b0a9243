import { restRootOf, routeAddress } from '../../../../kit/browser/address.ts';
import { reportProblem } from './diagnose.ts';
import { setDefaultRoot } from './element.ts';

/** The script tag of this code. Module scripts and merged scripts have no `currentScript`, so the page is searched. */
function findOwnScript(): HTMLScriptElement | null {
  const current = document.currentScript;
  if (current instanceof HTMLScriptElement && restRootOf(current.src) !== null) return current;
  return (
    [...document.scripts].find((script) => restRootOf(script.src) !== null && !script.hasAttribute('data-svc-done')) ??
    [...document.scripts].find((script) => restRootOf(script.src) !== null) ??
    null
  );
}

/** Shows the bot of `data-bot` or the form of `data-form`. Without them only the page's `<svc-chatbot>` elements are shown. */
export function runScriptTag(): void {
  const script = findOwnScript();
  const root = script && restRootOf(script.src);
  if (!script || root === null)
    return reportProblem(
      'The script cannot find its own address. Load it with its own tag: ' +
        '<script src="https://site/wp-json/svc-widget/v1/widget.js" data-bot="7" async></script>.',
    );
  setDefaultRoot(root);
  script.setAttribute('data-svc-done', '');
  const whenParsed = (run: () => void): void => {
    if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', run, { once: true });
    else run();
  };
  // With data-manual, the page creates the elements later.
  if (script.dataset.manual !== undefined) return;
  if (script.dataset.form !== undefined) whenParsed(() => insertForm(script, root));
  if (script.dataset.bot !== undefined) whenParsed(() => insertChatbot(script, root));
  else if (script.dataset.form !== undefined) return;
  else
    whenParsed(() => {
      if (!document.querySelector('svc-chatbot'))
        reportProblem(
          'The chatbot id is missing. Add data-bot="7" to the script tag, or <svc-chatbot bot="7"></svc-chatbot> to the page.',
        );
    });
}

function insertChatbot(script: HTMLScriptElement, root: string): void {
  const { bot = '', mode, theme, open, target } = script.dataset;
  const element = document.createElement('svc-chatbot');
  element.setAttribute('bot', bot);
  element.setAttribute('root', root);
  const shownAs = mode ?? (target === undefined ? undefined : 'inline');
  if (shownAs !== undefined) element.setAttribute('mode', shownAs);
  if (theme !== undefined) element.setAttribute('theme', theme);
  if (open !== undefined && open !== 'false') element.setAttribute('open', '');
  if (target === undefined) {
    // Tag managers and page loaders may insert the tag twice.
    if (document.querySelector(`svc-chatbot[placed][bot="${CSS.escape(bot)}"]`)) return;
    element.setAttribute('placed', '');
    if (shownAs !== 'popup' && document.body.contains(script)) script.after(element);
    else document.body.append(element);
    return;
  }
  const parent = find(target);
  if (!parent) return reportProblem(`No element matches data-target="${target}".`);
  if (!parent.querySelector(`svc-chatbot[bot="${CSS.escape(bot)}"]`)) parent.append(element);
}

/** Inserts an AI form after the script tag or into `data-target`, and loads the script of forms. */
function insertForm(script: HTMLScriptElement, root: string): void {
  const { form = '', theme, target } = script.dataset;
  const parent = target === undefined ? null : find(target);
  if (target !== undefined && !parent) return reportProblem(`No element matches data-target="${target}".`);
  // Tag managers and page loaders may insert the tag twice.
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
      "The form script could not be loaded. Allow this site in script-src and connect-src of the page's security policy.",
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

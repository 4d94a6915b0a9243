import { restRootOf, routeAddress } from '../../../../kit/browser/address.ts';
import { reportProblem } from './report.ts';
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
      'The script cannot find its own address. Load widget.js with a separate tag that has data-bot="7" and async.',
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
  if (script.dataset.bot !== undefined) whenParsed(() => void insert('bot', script, root));
  else if (script.dataset.form !== undefined) return;
  else
    whenParsed(() => {
      if (!document.querySelector('svc-chatbot'))
        reportProblem(
          'The chatbot id is missing. Add data-bot="7" to the script tag, or <svc-chatbot bot="7"></svc-chatbot> to the page.',
        );
    });
}

/** Inserts the element after the script tag, or into `data-target`. Returns whether it is new. */
function insert(name: 'bot' | 'form', script: HTMLScriptElement, root: string): boolean {
  const { theme, open, target, mode = target === undefined ? undefined : 'inline' } = script.dataset;
  const parent = target === undefined ? null : find(target);
  if (target !== undefined && !parent) {
    reportProblem(`No element matches data-target="${target}".`);
    return false;
  }
  const id = script.dataset[name] ?? '';
  const tag = name === 'bot' ? 'svc-chatbot' : 'svc-form';
  // Tag managers and page loaders may insert the tag twice.
  const same = `${tag}[${name}="${CSS.escape(id)}"]`;
  if ((parent ?? document).querySelector(parent ? same : `${same}[placed]`)) return false;
  const element = document.createElement(tag);
  const attributes = {
    [name]: id,
    root,
    theme,
    placed: parent ? undefined : '',
    ...(name === 'bot' && { mode, open: open === 'false' ? undefined : open }),
  };
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) element.setAttribute(key, value);
  if (parent) parent.append(element);
  else if (mode !== 'popup' && document.body.contains(script)) script.after(element);
  else document.body.append(element);
  return true;
}

/** Inserts an AI form, and loads the script of forms. */
function insertForm(script: HTMLScriptElement, root: string): void {
  if (!insert('form', script, root)) return;
  import(routeAddress(root, '/svc-widget/v1/form.js')).catch(() =>
    reportProblem(`The form script could not be loaded. Allow ${root} in script-src of the page's security policy.`),
  );
}

function find(selector: string): Element | null {
  try {
    return document.querySelector(selector);
  } catch {
    return null;
  }
}

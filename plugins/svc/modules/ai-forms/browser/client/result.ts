import { copyText } from '../../../../kit/browser/clipboard.ts';
import { h } from '../../../../kit/browser/dom.ts';
import { createMarkdownView } from '../../../../kit/browser/markdown.ts';
import type { FormView } from '../../public/protocol.ts';
import type { Source } from '../../submissions/submission.ts';
import { messageOf, type Api } from './api.ts';

export interface ResultPanel {
  readonly element: HTMLElement;
  /** Shows the text so far. */
  show(markdown: string): void;
  sources(sources: readonly Source[]): void;
  /** Shows the whole text and the actions for it. @param notice why it is not complete; empty if it is */
  finish(submission: string, markdown: string, notice: string): void;
  focus(): void;
}

export interface ResultInit {
  readonly view: Pick<FormView, 'texts' | 'messages' | 'result'>;
  readonly api: Api;
  /** Whether the visitor may save the text as a post. */
  readonly maySave: boolean;
}

export function createResult({ view, api, maySave }: ResultInit): ResultPanel {
  const { messages } = view;
  const heading = h('h3', { class: 'svcf-result-title', tabindex: -1 }, view.texts.result);
  const answer = h('div', { class: 'svcf-answer', 'aria-busy': 'true' });
  const sourceList = h('div', { class: 'svcf-sources', hidden: true });
  const incomplete = h('p', { class: 'svcf-note svcf-incomplete', role: 'status', hidden: true });
  const actions = h('div', { class: 'svcf-actions' });
  const note = h('p', { class: 'svcf-note', role: 'status' });
  const element = h(
    'section',
    { class: 'svcf-result', 'aria-label': view.texts.result },
    heading,
    answer,
    incomplete,
    sourceList,
    actions,
    note,
  );
  const write = createMarkdownView(answer, { imageOrigins: [api.origin] });
  const button = (label: string, act: () => void): HTMLButtonElement =>
    h('button', { type: 'button', class: 'svcf-button', onclick: act }, label);

  return {
    element,
    show: write,
    sources(sources) {
      sourceList.replaceChildren(
        h('p', { class: 'svcf-label' }, messages.sources),
        h(
          'ul',
          {},
          ...sources.map(({ title, url }) =>
            h(
              'li',
              {},
              /^https?:/i.test(url)
                ? h('a', { href: url, target: '_blank', rel: 'noopener noreferrer nofollow' }, title)
                : title,
            ),
          ),
        ),
      );
      sourceList.hidden = sources.length === 0;
    },
    finish(submission, markdown, notice) {
      write(markdown);
      incomplete.hidden = notice === '';
      incomplete.textContent = notice;
      answer.setAttribute('aria-busy', 'false');
      note.textContent = '';
      const buttons: (Node | null)[] = [
        view.result.copy
          ? button(
              messages.copy,
              () =>
                void copyText(markdown, element).then((copied) => {
                  note.textContent = copied ? messages.copied : messages.copyRefused;
                }),
            )
          : null,
        ...(view.result.download
          ? [
              button(messages.downloadMarkdown, () => save('md', markdown)),
              button(messages.downloadText, () => save('txt', `${answer.innerText}\n`)),
              button('HTML', () => save('html', page(answer))),
            ]
          : []),
      ];
      if (maySave) {
        const saving = button(messages.savePost, () => {
          saving.disabled = true;
          api.post(submission).then(
            ({ edit_url }) =>
              note.replaceChildren(`${messages.saved} `, h('a', { href: edit_url }, messages.editDraft)),
            (error: unknown) => {
              saving.disabled = false;
              note.textContent = messageOf(error, messages, 'notSaved');
            },
          );
        });
        buttons.push(saving);
      }
      actions.replaceChildren(...buttons.filter((one): one is Node => one !== null));
    },
    focus: () => heading.focus({ preventScroll: false }),
  };
}

const types: Readonly<Record<string, string>> = { md: 'text/markdown', txt: 'text/plain', html: 'text/html' };

function save(ending: string, content: string): void {
  const address = URL.createObjectURL(new Blob([content], { type: `${types[ending] ?? 'text/plain'};charset=utf-8` }));
  h('a', { href: address, download: `answer.${ending}` }).click();
  window.setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** The answer holds only nodes that the Markdown view created, so its HTML is safe. */
function page(answer: HTMLElement): string {
  const title = document.title.replace(/[&<>]/g, ' ');
  const head = `<head>\n<meta charset="utf-8">\n<title>${title}</title>\n</head>`;
  return `<!doctype html>\n<html>\n${head}\n<body>\n${answer.innerHTML}\n</body>\n</html>\n`;
}

import { h, show } from '../../../../kit/browser/dom.ts';
import type { Environment } from './environment.ts';

/** Answers after which the visitor is asked. */
const answersBefore = 2;

/** Asks once in a conversation whether the question was solved. */
export function createSolvedQuestion(
  { bot, chat, texts, announce }: Environment,
  { onNo }: { readonly onNo: () => void },
): { element: HTMLElement; update(): void } {
  const line = h('p', { dir: 'auto' }, texts.solved);
  const answer = (solved: boolean): void => {
    chat.solve(solved);
    line.textContent = solved ? texts.thanks : texts.unsolved;
    announce(line.textContent);
    show(buttons, false);
    if (!solved) onNo();
  };
  const button = (label: string, solved: boolean): HTMLElement =>
    h('button', { type: 'button', onclick: () => answer(solved) }, label);
  const buttons = h('div', { class: 'choices' }, button(texts.yes, true), button(texts.no, false));
  const element = h('div', { class: 'solved', role: 'group', 'aria-label': texts.solved, hidden: true }, line, buttons);
  let shownFor: string | null = null;
  return {
    element,
    update() {
      const answers = chat.entries.filter((entry) => entry.kind === 'message' && entry.role === 'assistant');
      const isDue =
        bot.ask_solved && bot.keeps && !chat.busy && answers.length >= answersBefore && chat.solved === null;
      if (isDue && shownFor !== chat.conversation) {
        shownFor = chat.conversation;
        line.textContent = texts.solved;
        show(buttons, true);
      }
      // The thanks stay until the next message.
      const isAnswered = chat.solved !== null && buttons.hidden === true;
      show(element, isDue || (isAnswered && shownFor === chat.conversation && !chat.busy));
    },
  };
}

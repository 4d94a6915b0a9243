import type { BotForm } from '../../forms/form.ts';
import type { SendEvent, SendRequest } from '../../widget/protocol.ts';
import type { Chat } from './chat.ts';
import { entryOf, newEntry, type MessageEntry } from './entry.ts';
import { Failure, lost } from './failure.ts';

/** Milliseconds before further tries after a connection was lost; a server that is there is asked again by the visitor alone. */
const pauses = [800, 2_000, 5_000];
/** Milliseconds a stopped answer has to end by itself. */
const stopPatience = 3_000;

interface Delivering {
  readonly message: MessageEntry;
  readonly controller: AbortController;
  /** Id of the answer that is made anew; null: it is the first one. */
  readonly replaces: string | null;
  answer: MessageEntry | null;
  accepted: boolean;
  stopped: boolean;
}

/**
 * Brings one message to the server and its answer back. A message keeps its id through every try, so that it counts once;
 * without a connection it waits for one, and over a reload it is kept with the tab.
 */
export class Delivery {
  current: Delivering | null = null;
  private readonly chat: Chat;
  private wake: () => void = () => undefined;
  private readonly online = (): void => this.wake();

  constructor(chat: Chat) {
    this.chat = chat;
    addEventListener('online', this.online);
  }

  run(message: MessageEntry, { replaces = null }: { readonly replaces?: string | null } = {}): void {
    const current: Delivering = {
      message,
      replaces,
      controller: new AbortController(),
      answer: null,
      accepted: false,
      stopped: false,
    };
    this.current = current;
    message.error = null;
    message.state = 'sending';
    this.note(message);
    void this.deliver(current)
      .catch((error: unknown) => this.fail(current, error instanceof Failure ? error : lost()))
      .finally(() => {
        if (this.current === current) this.current = null;
        this.chat.init.onChange();
      });
    this.chat.init.onChange();
  }

  /** Goes on with what a reload came in between of: a form to fill in, a message on its way. */
  resume(): void {
    const { chat } = this;
    const { session } = chat.init;
    const form = read<{ conversation: string; submissionId: string; form: BotForm }>(session.get('form'));
    if (form?.conversation === chat.conversation && form && !chat.entries.some(({ key }) => key === form.submissionId))
      chat.showForm(form.form, form.submissionId);
    const pending = read<{ id: string; content: string; conversation: string | null }>(session.get('pending'));
    if (!pending || this.current) return;
    const place = chat.entries.findIndex((entry) => entry.kind === 'message' && entry.id === pending.id);
    const answered =
      place >= 0 &&
      chat.entries.slice(place + 1).some((entry) => entry.kind === 'message' && entry.role === 'assistant');
    const elsewhere = place < 0 && pending.conversation !== null && pending.conversation !== chat.conversation;
    if (answered || elsewhere || !chat.consented) return session.set('pending', '');
    const known = chat.entries[place];
    const message = known?.kind === 'message' ? known : newEntry('user', pending.id, { content: pending.content });
    if (!known) chat.entries.push(message);
    this.run(message);
  }

  /** Ends the answer; what there is of it stays. */
  stop(): void {
    const { current } = this;
    if (!current || current.stopped) return;
    current.stopped = true;
    if (!current.accepted) current.controller.abort();
    else {
      const { api, onChange } = this.chat.init;
      api
        .stop({ ...this.chat.identity(), conversation: this.chat.conversation ?? '', message_id: current.message.id })
        .catch(() => undefined);
      setTimeout(() => current.controller.abort(), stopPatience);
      onChange();
    }
    this.wake();
  }

  /** Lets go of the answer under way: the conversation is left. */
  drop(): void {
    this.current?.controller.abort();
    this.current = null;
    this.chat.init.session.set('pending', '');
  }

  destroy(): void {
    removeEventListener('online', this.online);
    this.current?.controller.abort();
  }

  private note(message: MessageEntry): void {
    this.chat.init.session.set(
      'pending',
      JSON.stringify({ id: message.id, content: message.content, conversation: this.chat.conversation }),
    );
  }

  private async deliver(current: Delivering): Promise<void> {
    for (let tries = 0, renewed = false; ;) {
      try {
        await this.waitForConnection(current);
        await this.chat.start();
        return await this.once(current, tries);
      } catch (error) {
        if (!(error instanceof Failure) || current.stopped || this.current !== current) throw error;
        if (isForgotten(error) && !renewed) {
          renewed = true;
          await this.chat.renew();
        } else if (error.status !== 0) throw error;
        else if (navigator.onLine) {
          const pause = pauses[tries++];
          if (pause === undefined) throw error;
          await this.sleep(pause);
        }
      }
    }
  }

  private async waitForConnection({ message, controller }: Delivering): Promise<void> {
    while (!navigator.onLine && !controller.signal.aborted) {
      message.state = 'waiting';
      this.chat.init.onChange();
      await this.sleep(30_000);
    }
    if (controller.signal.aborted) throw lost();
    message.state = 'sending';
    this.chat.init.onChange();
  }

  /** Until the time is up, the connection is back, or the visitor stops it. */
  private sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private async once(current: Delivering, tries: number): Promise<void> {
    const { chat } = this;
    const { bot, api } = chat.init;
    const { message } = current;
    const body: SendRequest = {
      ...chat.identity(),
      ...(chat.conversation && { conversation: chat.conversation }),
      message_id: message.id,
      text: message.content,
      page_url: location.href,
      ...(bot.consent.required && { consent: true }),
      ...(current.replaces !== null && { regenerate: true, replaces: current.replaces }),
      ...(!bot.keeps && { history: this.history(message) }),
    };
    // What came by an earlier try comes again.
    if (current.answer) current.answer.content = '';
    // Streams that break again and again may be the error of what is in between: the last tries do without.
    for await (const event of api.send(body, { signal: current.controller.signal, plain: tries >= 2 })) {
      if (this.current !== current) return;
      this.take(current, event);
      chat.init.onChange();
    }
  }

  private take(current: Delivering, event: SendEvent): void {
    const { chat } = this;
    if (event.type === 'error') throw new Failure(event);
    if (event.type === 'accepted') {
      current.accepted = true;
      current.message.state = 'done';
      chat.setConversation(event.conversation);
      this.note(current.message);
      if (current.replaces === null) chat.tell(current.message);
      return;
    }
    const answer = (current.answer ??= this.begin(current));
    if (event.type === 'sources') answer.sources = event.sources;
    else if (event.type === 'delta') answer.content += event.text;
    else this.finish(answer, event);
  }

  private begin({ message }: Delivering): MessageEntry {
    const answer = newEntry('assistant', `answer-${message.id}-${Date.now()}`, { state: 'streaming' });
    const { entries } = this.chat;
    entries.splice(entries.indexOf(message) + 1, 0, answer);
    return answer;
  }

  private finish(answer: MessageEntry, { message, form, limit }: Extract<SendEvent, { type: 'done' }>): void {
    const { chat } = this;
    Object.assign(answer, entryOf(message), { key: answer.key });
    chat.limit = limit;
    chat.init.session.set('pending', '');
    if (answer.content === '' && form) chat.entries = chat.entries.filter((entry) => entry !== answer);
    else chat.tell(answer);
    if (form) chat.showForm(form);
    chat.init.onEvent({ type: 'reply', entry: answer });
  }

  private fail(current: Delivering, failure: Failure): void {
    const { message, answer, stopped, accepted } = current;
    if (this.current !== current) return;
    const { session, onFailure } = this.chat.init;
    if (failure.limit) this.chat.limit = failure.limit;
    if (failure.status !== 0 || stopped) session.set('pending', '');
    if (stopped && accepted) {
      message.state = 'done';
      if (answer) Object.assign(answer, { state: 'done', partial: true });
      return;
    }
    const wrong = answer?.content ? answer : message;
    if (wrong === message && answer) this.chat.remove(answer);
    wrong.state = 'failed';
    // The service says what visitors may read; of other failures they learn no more than that there is one.
    wrong.error = {
      text: failure.code.startsWith('rest_svc_') ? failure.message : '',
      retry: failure.retry || failure.status === 409 || stopped,
    };
    // What is said to visitors is not an error of the set-up.
    if (!stopped && (failure.status === 0 || failure.status >= 500)) onFailure(failure);
  }

  private history(message: MessageEntry): { role: 'user' | 'assistant'; content: string }[] {
    const before = this.chat.entries.slice(0, this.chat.entries.indexOf(message));
    return before.flatMap((entry) =>
      entry.kind === 'message' && entry.state === 'done' && entry.content
        ? [{ role: entry.role, content: entry.content }]
        : [],
    );
  }
}

/** The session has expired, or the conversation is gone. */
function isForgotten({ code }: Failure): boolean {
  return /(session_invalid|conversation_not_found)$/.test(code);
}

function read<Value>(text: string): Value | null {
  try {
    return text ? (JSON.parse(text) as Value) : null;
  } catch {
    return null;
  }
}

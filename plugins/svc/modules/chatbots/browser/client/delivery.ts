import type { VisibleForm } from '../../forms/form.ts';
import type { HistoryMessage, SendEvent, SendRequest } from '../../widget/protocol.ts';
import type { Chat } from './chat.ts';
import { toEntry, newEntry, type MessageEntry } from './entry.ts';
import { Failure, connectionLost } from './failure.ts';

/** Milliseconds before each retry after a lost connection or an outage. After any other response only the visitor retries. */
const retryDelays = [800, 2_000, 5_000];
/** Milliseconds that a stopped answer has to end. */
const stopTimeout = 3_000;

interface PendingDelivery {
  readonly message: MessageEntry;
  readonly controller: AbortController;
  /** Id of the answer to replace; null for a first answer. */
  readonly replaces: string | null;
  answer: MessageEntry | null;
  accepted: boolean;
  stopped: boolean;
}

/**
 * Sends one message and receives its answer. A message keeps its id over all retries, so that it counts once. It waits
 * while the browser is offline, and the tab stores it over a reload.
 */
export class Delivery {
  current: PendingDelivery | null = null;
  private readonly chat: Chat;
  private wake: () => void = () => undefined;
  private readonly online = (): void => this.wake();

  constructor(chat: Chat) {
    this.chat = chat;
    addEventListener('online', this.online);
  }

  run(message: MessageEntry, { replaces = null }: { readonly replaces?: string | null } = {}): void {
    const current: PendingDelivery = {
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
    this.savePending(message);
    void this.deliver(current)
      .catch((error: unknown) => this.fail(current, error instanceof Failure ? error : connectionLost()))
      .finally(() => {
        if (this.current === current) this.current = null;
        this.chat.init.onChange();
      });
    this.chat.init.onChange();
  }

  /** Continues what a reload interrupted: an open form, a message that was being sent. */
  resume(): void {
    const { chat } = this;
    const { session } = chat.init;
    const form = parse<{ conversation: string; submissionId: string; form: VisibleForm }>(session.get('form'));
    if (form?.conversation === chat.conversation && form && !chat.entries.some(({ key }) => key === form.submissionId))
      chat.showForm(form.form, form.submissionId);
    const pending = parse<{ id: string; content: string; conversation: string | null }>(session.get('pending'));
    if (!pending || this.current) return;
    const index = chat.entries.findIndex((entry) => entry.kind === 'message' && entry.id === pending.id);
    const answered =
      index >= 0 &&
      chat.entries.slice(index + 1).some((entry) => entry.kind === 'message' && entry.role === 'assistant');
    const isOther = index < 0 && pending.conversation !== null && pending.conversation !== chat.conversation;
    if (answered || isOther || !chat.consented) return session.set('pending', '');
    const known = chat.entries[index];
    const message = known?.kind === 'message' ? known : newEntry('user', pending.id, { content: pending.content });
    if (!known) chat.entries.push(message);
    this.run(message);
  }

  /** Stops the answer and keeps its text so far. */
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
      setTimeout(() => current.controller.abort(), stopTimeout);
      onChange();
    }
    this.wake();
  }

  /** Abandons the running answer, because the visitor leaves the conversation. */
  drop(): void {
    this.current?.controller.abort();
    this.current = null;
    this.chat.init.session.set('pending', '');
  }

  destroy(): void {
    removeEventListener('online', this.online);
    this.current?.controller.abort();
  }

  private savePending(message: MessageEntry): void {
    this.chat.init.session.set(
      'pending',
      JSON.stringify({ id: message.id, content: message.content, conversation: this.chat.conversation }),
    );
  }

  private async deliver(current: PendingDelivery): Promise<void> {
    for (let tries = 0, renewed = false; ;) {
      try {
        await this.waitForConnection(current);
        await this.chat.start();
        return await this.sendOnce(current, tries);
      } catch (error) {
        if (!(error instanceof Failure) || current.stopped || this.current !== current) throw error;
        if (isSessionLost(error) && !renewed) {
          renewed = true;
          await this.chat.renew();
        } else if (error.status !== 0 && !isOutage(error)) throw error;
        else if (navigator.onLine) {
          const pause = retryDelays[tries++];
          if (pause === undefined) throw error;
          await this.sleep(pause);
        }
      }
    }
  }

  private async waitForConnection({ message, controller }: PendingDelivery): Promise<void> {
    while (!navigator.onLine && !controller.signal.aborted) {
      message.state = 'waiting';
      this.chat.init.onChange();
      await this.sleep(30_000);
    }
    if (controller.signal.aborted) throw connectionLost();
    message.state = 'sending';
    this.chat.init.onChange();
  }

  /** Resolves after the time, when the connection is back, or when the visitor stops the answer. */
  private sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private async sendOnce(current: PendingDelivery, tries: number): Promise<void> {
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
    // A retry receives the text from the beginning.
    if (current.answer) current.answer.content = '';
    // A proxy may break streams, so the last retries do without.
    for await (const event of api.send(body, { signal: current.controller.signal, plain: tries >= 2 })) {
      if (this.current !== current) return;
      this.handleEvent(current, event);
      chat.init.onChange();
    }
  }

  private handleEvent(current: PendingDelivery, event: SendEvent): void {
    const { chat } = this;
    if (event.type === 'error') throw new Failure(event);
    if (event.type === 'accepted') {
      current.accepted = true;
      current.message.state = 'done';
      chat.setConversation(event.conversation);
      this.savePending(current.message);
      if (current.replaces === null) chat.publish(current.message);
      return;
    }
    const answer = (current.answer ??= this.addAnswer(current));
    if (event.type === 'sources') answer.sources = event.sources;
    else if (event.type === 'delta') answer.content += event.text;
    else this.finish(answer, event);
  }

  private addAnswer({ message }: PendingDelivery): MessageEntry {
    const answer = newEntry('assistant', `answer-${message.id}-${Date.now()}`, { state: 'streaming' });
    const { entries } = this.chat;
    entries.splice(entries.indexOf(message) + 1, 0, answer);
    return answer;
  }

  private finish(answer: MessageEntry, { message, form, limit }: Extract<SendEvent, { type: 'done' }>): void {
    const { chat } = this;
    Object.assign(answer, toEntry(message), { key: answer.key });
    chat.limit = limit;
    chat.init.session.set('pending', '');
    if (answer.content === '' && form) chat.entries = chat.entries.filter((entry) => entry !== answer);
    else chat.publish(answer);
    if (form) chat.showForm(form);
    chat.init.onEvent({ type: 'reply', entry: answer });
  }

  private fail(current: PendingDelivery, failure: Failure): void {
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
    const failed = answer?.content ? answer : message;
    if (failed === message && answer) this.chat.remove(answer);
    failed.state = 'failed';
    // Only messages of the service are meant for visitors; other failures show the general text.
    failed.error = {
      text: failure.code.startsWith('rest_svc_') ? failure.message : '',
      retry: failure.retry || failure.status === 409 || stopped,
      isOutage: isOutage(failure),
    };
    // A refusal is for the visitor and not a problem of the installation.
    if (!stopped && (failure.status === 0 || failure.status >= 500)) onFailure(failure);
  }

  private history(message: MessageEntry): HistoryMessage[] {
    const before = this.chat.entries.slice(0, this.chat.entries.indexOf(message));
    return before.flatMap((entry) =>
      entry.kind === 'message' && entry.state === 'done' && entry.content
        ? [{ role: entry.role, content: entry.content, ...(entry.signature && { signature: entry.signature }) }]
        : [],
    );
  }
}

/** Whether the session expired or the conversation was deleted. */
function isSessionLost({ code }: Failure): boolean {
  return /(session_invalid|conversation_not_found)$/.test(code);
}

function parse<Value>(text: string): Value | null {
  try {
    return text ? (JSON.parse(text) as Value) : null;
  } catch {
    return null;
  }
}

/** Whether the site cannot use its database for a moment. */
function isOutage({ code }: Failure): boolean {
  return code === 'rest_service_unavailable';
}

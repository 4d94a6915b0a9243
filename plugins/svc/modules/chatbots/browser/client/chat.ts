import type { FormResponse, StartResponse, WidgetBot, WidgetLimit, WidgetMessage } from '../../widget/protocol.ts';
import type { BotForm } from '../../forms/form.ts';
import type { FeedbackValue } from '../../conversations/conversation.ts';
import type { Api } from './api.ts';
import { toEntry, newEntry, type Entry, type FormEntry, type MessageEntry } from './entry.ts';
import { Failure } from './failure.ts';
import { Delivery } from './delivery.ts';
import type { Store } from './storage.ts';
import { openTabs, type Tabs } from './tabs.ts';
import { uuid } from '../../../../kit/browser/uuid.ts';

export interface ChatInit {
  readonly api: Api;
  readonly bot: WidgetBot;
  readonly local: Store;
  readonly session: Store;
  /** Names the conversation among the tabs of a browser. */
  readonly channel: string;
  /** Something of the state is different. */
  readonly onChange: () => void;
  /** An answer is complete, a message was sent, ... */
  readonly onEvent: (event: ChatEvent) => void;
  /** The server cannot be asked, and why is for the console. */
  readonly onFailure: (failure: Failure) => void;
}

export type ChatEvent =
  | { readonly type: 'message'; readonly id: string; readonly text: string }
  | { readonly type: 'reply'; readonly entry: MessageEntry }
  | { readonly type: 'feedback'; readonly message_id: string; readonly value: FeedbackValue; readonly comment: string };

/** A conversation in a page: its state and all that is done to it. Knows nothing of how it is shown. */
export class Chat {
  readonly init: ChatInit;
  entries: Entry[] = [];
  conversation: string | null = null;
  token: string;
  consented: boolean;
  limit: WidgetLimit | null = null;
  /** `failed`: the history could not be had. */
  phase: 'idle' | 'starting' | 'ready' | 'failed' = 'idle';
  readonly delivery: Delivery;
  private readonly tabs: Tabs | null;
  private starting: Promise<void> | null = null;

  constructor(init: ChatInit) {
    this.init = init;
    this.token = init.local.get('token');
    this.consented = !init.bot.consent.required || init.session.get('consent') === 'yes';
    this.delivery = new Delivery(this);
    this.tabs = init.bot.keeps ? openTabs(init.channel, this) : null;
  }

  get busy(): boolean {
    return this.delivery.current !== null;
  }

  /** Session and history; once, and again after a failure. */
  start(): Promise<void> {
    this.starting ??= this.load({ new: this.init.session.get('new') === 'yes' }).catch((error: unknown) => {
      this.starting = null;
      this.phase = 'failed';
      this.init.onChange();
      throw error;
    });
    return this.starting;
  }

  /** What other tabs have done meanwhile, where they cannot announce so themselves. */
  async refresh(): Promise<void> {
    if (this.phase !== 'ready' || this.busy || !this.init.bot.keeps || this.conversation === null) return;
    await this.load({ conversation: this.conversation });
  }

  /** Whether there is more by now. */
  async recheck(): Promise<void> {
    if (this.limit && !this.busy)
      await this.load(this.conversation === null ? {} : { conversation: this.conversation });
  }

  private async load(request: { conversation?: string; new?: boolean }): Promise<void> {
    const { api, bot, onChange, local } = this.init;
    if (this.phase !== 'ready') this.phase = 'starting';
    onChange();
    const conversation = request.conversation ?? local.get('conversation');
    const body = {
      ...(this.token && { token: this.token }),
      ...(conversation && !request.new && { conversation }),
      ...(request.new && { new: true }),
      page_url: location.href,
    };
    const answer = await api.start(body).catch((error: unknown) => {
      this.init.onFailure(error as Failure);
      throw error;
    });
    this.storeToken(answer.token, answer.consented);
    this.consented ||= answer.consented;
    this.limit = answer.limit;
    this.phase = 'ready';
    if (bot.keeps && !this.busy) this.mergeHistory(answer.conversation, request.new === true);
    onChange();
    this.delivery.resume();
  }

  /** Nothing is kept in the browser of somebody who has not consented. */
  private storeToken(token: string, consented: boolean): void {
    if (token) this.token = token;
    if (this.consented || consented) this.init.local.set('token', this.token);
  }

  private mergeHistory(conversation: StartResponse['conversation'], anew: boolean): void {
    if (anew || !conversation) return;
    const known = new Map(this.entries.map((entry) => [entry.kind === 'message' ? entry.id : entry.key, entry]));
    const stored = conversation.messages.map((message) => {
      const entry = known.get(message.id);
      known.delete(message.id);
      return entry?.kind === 'message' ? Object.assign(entry, toEntry(message), { key: entry.key }) : toEntry(message);
    });
    // What the server does not know: forms, and messages still to be sent.
    const own = [...known.values()].filter((entry) => entry.kind === 'form' || entry.state !== 'done');
    this.entries = [...stored, ...own];
    this.setConversation(conversation.id);
  }

  setConversation(id: string): void {
    this.conversation = id;
    this.init.session.set('new', '');
    if (this.init.bot.keeps && this.consented) this.init.local.set('conversation', id);
  }

  /** Sends a message; there is one at a time. Answers whether it was taken. */
  send(text: string): boolean {
    const content = text.trim();
    if (content === '' || this.busy || this.limit || !this.consented) return false;
    const entry = newEntry('user', uuid(), { content, state: 'sending' });
    this.entries.push(entry);
    this.init.onEvent({ type: 'message', id: entry.id, text: content });
    this.delivery.run(entry);
    return true;
  }

  stop(): void {
    this.delivery.stop();
  }

  /** The message again whose sending or answering failed. */
  retry(entry: MessageEntry): void {
    if (this.busy) return;
    const message = entry.role === 'user' ? entry : this.questionBefore(entry);
    if (!message) return;
    if (entry.role === 'assistant') this.remove(entry);
    this.delivery.run(message);
  }

  /** The last answer anew. */
  regenerate(entry: MessageEntry): void {
    const question = this.questionBefore(entry);
    if (!question || this.busy || this.limit) return;
    this.remove(entry);
    this.delivery.run(question, { replaces: entry.id });
  }

  private questionBefore(answer: MessageEntry): MessageEntry | undefined {
    const before = this.entries
      .slice(0, this.entries.indexOf(answer))
      .filter((entry) => entry.kind === 'message' && entry.role === 'user');
    return before[before.length - 1] as MessageEntry | undefined;
  }

  remove(entry: Entry): void {
    this.entries = this.entries.filter((other) => other !== entry);
    this.init.onChange();
  }

  /** The same again takes nothing back: whoever wants to, says `none`. Throws what failed, after the old value is shown again. */
  async rate(entry: MessageEntry, value: FeedbackValue, comment = ''): Promise<void> {
    const before = entry.feedback;
    entry.feedback = value;
    this.init.onChange();
    try {
      await this.init.api.rate({
        ...this.identity(),
        conversation: this.conversation ?? '',
        message_id: entry.id,
        value,
        ...(comment && { comment }),
      });
    } catch (error) {
      entry.feedback = before;
      this.init.onChange();
      throw error;
    }
    this.init.onEvent({ type: 'feedback', message_id: entry.id, value, comment });
    this.tell(entry);
  }

  async submitForm(entry: FormEntry, values: Readonly<Record<string, unknown>>): Promise<void> {
    const answer: FormResponse = await this.init.api.submit(entry.form.id, {
      ...this.identity(),
      conversation: this.conversation ?? '',
      submission_id: entry.submissionId,
      values,
      page_url: location.href,
    });
    entry.thanks = answer.thanks || entry.form.thanks;
    this.init.session.set('form', '');
    if (answer.message) this.receive(answer.message);
    if (answer.form) this.showForm(answer.form);
    this.init.onChange();
  }

  /** Shown after the answer; comes back after a reload until it was submitted. */
  showForm(form: BotForm, submissionId = uuid()): void {
    this.entries.push({ kind: 'form', key: submissionId, form, submissionId, thanks: null });
    if (this.conversation && this.init.bot.keeps)
      this.init.session.set('form', JSON.stringify({ conversation: this.conversation, submissionId, form }));
  }

  /** An answer that came in another way than by a message of this page. */
  receive(message: WidgetMessage): void {
    const entry = toEntry(message);
    this.entries.push(entry);
    this.init.onEvent({ type: 'reply', entry });
    this.tell(entry);
  }

  newChat(): void {
    this.delivery.drop();
    this.entries = [];
    this.conversation = null;
    this.init.local.set('conversation', '');
    this.init.session.set('form', '');
    this.init.session.set('new', 'yes');
    this.init.onChange();
    this.starting = this.load({ new: true }).catch(() => undefined);
  }

  consent(): void {
    this.consented = true;
    this.init.session.set('consent', 'yes');
    this.init.local.set('token', this.token);
    this.init.onChange();
  }

  identity(): { token?: string } {
    return this.token ? { token: this.token } : {};
  }

  /** The session is none any more: begins a new one. */
  async renew(): Promise<void> {
    this.token = '';
    this.conversation = null;
    for (const name of ['token', 'conversation']) this.init.local.set(name, '');
    this.starting = null;
    await this.start();
  }

  /** Tells other tabs of a message. */
  tell(entry: MessageEntry): void {
    this.tabs?.tell(entry);
  }

  destroy(): void {
    this.delivery.destroy();
    this.tabs?.close();
  }
}

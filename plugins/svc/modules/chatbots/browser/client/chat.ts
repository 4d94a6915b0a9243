import type { FormResponse, StartResponse, WidgetBot, WidgetLimit, WidgetMessage } from '../../widget/protocol.ts';
import type { VisibleForm } from '../../forms/form.ts';
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
  /** Name of the channel between tabs. */
  readonly channel: string;
  /** The state changed. */
  readonly onChange: () => void;
  /** A message was sent, or an answer or rating is complete. */
  readonly onEvent: (event: ChatEvent) => void;
  /** A call failed; the reason goes to the console. */
  readonly onFailure: (failure: Failure) => void;
}

export type ChatEvent =
  | { readonly type: 'message'; readonly id: string; readonly text: string }
  | { readonly type: 'reply'; readonly entry: MessageEntry }
  | { readonly type: 'feedback'; readonly message_id: string; readonly value: FeedbackValue; readonly comment: string };

/** A conversation in a page: its state and actions, without its display. */
export class Chat {
  readonly init: ChatInit;
  entries: Entry[] = [];
  conversation: string | null = null;
  token: string;
  consented: boolean;
  limit: WidgetLimit | null = null;
  /** Administrators see how well sources match. */
  isAdmin = false;
  /** What the visitor said in this conversation; null: not asked or not answered. */
  solved: boolean | null = null;
  /** `failed`: the history could not be loaded. */
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

  /** Loads session and history once, and again after a failure. */
  start(): Promise<void> {
    this.starting ??= this.load({ new: this.init.session.get('new') === 'yes' }).catch((error: unknown) => {
      this.starting = null;
      this.phase = 'failed';
      this.init.onChange();
      throw error;
    });
    return this.starting;
  }

  /** Loads what other tabs did, for browsers whose tabs cannot message each other. */
  async refresh(): Promise<void> {
    if (this.phase !== 'ready' || this.busy || !this.init.bot.keeps || this.conversation === null) return;
    await this.load({ conversation: this.conversation });
  }

  /** Checks whether the limit was reset. */
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
    const response = await api.start(body).catch((error: unknown) => {
      this.init.onFailure(error as Failure);
      throw error;
    });
    this.storeToken(response.token, response.consented);
    this.consented ||= response.consented;
    this.limit = response.limit;
    this.isAdmin = response.user.is_admin;
    if (!request.new) this.solved = response.conversation?.solved ?? null;
    this.phase = 'ready';
    if (bot.keeps && !this.busy) this.mergeHistory(response.conversation, request.new === true);
    onChange();
    this.delivery.resume();
  }

  /** The browser stores nothing before the visitor has consented. */
  private storeToken(token: string, consented: boolean): void {
    if (token) this.token = token;
    if (this.consented || consented) this.init.local.set('token', this.token);
  }

  private mergeHistory(conversation: StartResponse['conversation'], isNew: boolean): void {
    if (isNew || !conversation) return;
    const known = new Map(this.entries.map((entry) => [entry.kind === 'message' ? entry.id : entry.key, entry]));
    const stored = conversation.messages.map((message) => {
      const entry = known.get(message.id);
      known.delete(message.id);
      return entry?.kind === 'message' ? Object.assign(entry, toEntry(message), { key: entry.key }) : toEntry(message);
    });
    // The server does not have forms, nor messages that are not sent yet.
    const local = [...known.values()].filter((entry) => entry.kind === 'form' || entry.state !== 'done');
    this.entries = [...stored, ...local];
    this.setConversation(conversation.id);
  }

  setConversation(id: string): void {
    this.conversation = id;
    this.init.session.set('new', '');
    if (this.init.bot.keeps && this.consented) this.init.local.set('conversation', id);
  }

  /** Sends a message unless one is being answered. Returns whether it was accepted. */
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

  /** Sends a failed message again. */
  retry(entry: MessageEntry): void {
    if (this.busy) return;
    const message = entry.role === 'user' ? entry : this.questionBefore(entry);
    if (!message) return;
    if (entry.role === 'assistant') this.remove(entry);
    this.delivery.run(message);
  }

  /** Replaces the last answer. */
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

  /** Rates an answer; `none` removes the rating. On failure it restores the old value and throws. */
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
    this.publish(entry);
  }

  /** Records whether the question was solved. A failure is not worth a message. */
  solve(solved: boolean): void {
    this.solved = solved;
    this.init.onChange();
    this.init.api
      .solve({ ...this.identity(), conversation: this.conversation ?? '', solved })
      .catch((error: unknown) => this.init.onFailure(error as Failure));
  }

  async submitForm(entry: FormEntry, values: Readonly<Record<string, unknown>>): Promise<void> {
    const response: FormResponse = await this.init.api.submit(entry.form.id, {
      ...this.identity(),
      conversation: this.conversation ?? '',
      submission_id: entry.submissionId,
      values,
      page_url: location.href,
      page_title: document.title.slice(0, 500),
    });
    entry.thanks = response.thanks || entry.form.thanks;
    this.init.session.set('form', '');
    if (response.message) this.receive(response.message);
    if (response.form) this.showForm(response.form);
    this.init.onChange();
  }

  /** Shows a form after the answer, and again after a reload until it is submitted. */
  showForm(form: VisibleForm, submissionId = uuid()): void {
    this.entries.push({ kind: 'form', key: submissionId, form, submissionId, thanks: null });
    if (this.conversation && this.init.bot.keeps)
      this.init.session.set('form', JSON.stringify({ conversation: this.conversation, submissionId, form }));
  }

  /** Adds an answer that is not a reply to a message of this page. */
  receive(message: WidgetMessage): void {
    const entry = toEntry(message);
    this.entries.push(entry);
    this.init.onEvent({ type: 'reply', entry });
    this.publish(entry);
  }

  newChat(): void {
    this.delivery.drop();
    this.entries = [];
    this.solved = null;
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

  /** Replaces an expired session. */
  async renew(): Promise<void> {
    this.token = '';
    this.conversation = null;
    for (const name of ['token', 'conversation']) this.init.local.set(name, '');
    this.starting = null;
    await this.start();
  }

  /** Sends a message to the other tabs. */
  publish(entry: MessageEntry): void {
    this.tabs?.publish(entry);
  }

  destroy(): void {
    this.delivery.destroy();
    this.tabs?.close();
  }
}

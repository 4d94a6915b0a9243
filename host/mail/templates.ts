import { inLanguage, type Language, type MailApi, type QueuedMail, type User } from '#plugin-api';

export interface TemplateMailDependencies {
  readonly mail: Pick<MailApi, 'queue' | 'send'>;
  readonly views: {
    render(
      template: string,
      data: Readonly<Record<string, unknown>>,
      frame: Readonly<Record<string, unknown>>,
    ): Promise<string>;
    safe(html: string): unknown;
  };
  readonly site: { readonly url: string; name(): Promise<string> };
  /** The language of a profile, else of the site. */
  language(locale?: string): Language | undefined;
}

export interface TemplateMail {
  /** Reads the mail in the language of the profile, not in that of the request. The template has the values `name` and `login`. */
  readonly to: Pick<User, 'email' | 'login' | 'displayName' | 'profile'>;
  /** Name below `views/mail`. The first line of the template is the subject. */
  readonly template: string;
  readonly data?: Readonly<Record<string, string | number>>;
}

export interface TemplateMails {
  /** Renders a mail and queues it, see `MailApi.queue`. */
  queue(mail: TemplateMail, options?: QueuedMail): Promise<void>;
  /** Renders a mail and sends it at once, see `MailApi.send`. */
  send(mail: TemplateMail): ReturnType<MailApi['send']>;
}

/**
 * Mails from the templates in `views/mail`. A template is plain text: the subject, an empty line, and paragraphs. The HTML
 * version is built from the same text, in which a paragraph that is only a URL becomes a link.
 */
export function createTemplateMails({ mail, views, site, language }: TemplateMailDependencies): TemplateMails {
  async function render({ to, template, data }: TemplateMail) {
    const known = { name: to.displayName, login: to.login, ...data };
    const frame = { site: { name: oneLine(await site.name()), url: site.url } };
    const values = Object.fromEntries(
      Object.entries(known).map(([name, value]) => [name, typeof value === 'string' ? oneLine(value) : value]),
    );
    const [subject = '', ...rest] = (await views.render(`mail/${template}`, values, frame)).trim().split('\n');
    const escaped = rest.join('\n').trim();
    const title = unescapeHtml(subject);
    const html = await views.render('mail/layout', { title, body: views.safe(toHtml(escaped)) }, frame);
    return { to: to.email, subject: title, text: `${unescapeHtml(escaped)}\n`, html };
  }
  const renderFor = (message: TemplateMail) => inLanguage(language(message.to.profile?.locale), () => render(message));
  return {
    queue: async (message, options) => mail.queue(await renderFor(message), options),
    send: async (message) => mail.send(await renderFor(message)),
  };
}

/** A value must not start a new paragraph, where it could become a link. */
function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ').trim();
}

/** Paragraphs of escaped text. */
function toHtml(escaped: string): string {
  return escaped
    .split(/\n{2,}/)
    .map((paragraph) => {
      const url = /^https?:\S+$/.test(paragraph) ? paragraph : null;
      return `<p>${url === null ? paragraph.replaceAll('\n', '<br>\n') : `<a href="${url}">${url}</a>`}</p>`;
    })
    .join('\n');
}

/** The entities that Handlebars writes. */
const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#x27;': "'",
  '&#x60;': '`',
  '&#x3D;': '=',
};

function unescapeHtml(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#x27|#x60|#x3D);/g, (entity) => entities[entity] ?? entity);
}

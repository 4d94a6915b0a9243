import { withNotice, withFieldErrors } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest, MailReceipt, FieldErrors, User } from '#plugin-api';
import { readRawText, readText } from './forms.ts';

export interface MailPageDependencies {
  readonly settings: {
    read(): Promise<{
      readonly server: { readonly host: string; readonly fromName: string; readonly fromEmail: string };
      readonly password: string | null;
    } | null>;
    /** @throws RestError with messages by field. */
    save(
      input: Readonly<Record<string, unknown>> & { readonly password?: string | null },
    ): Promise<{ readonly passwordDropped: boolean }>;
    remove(): Promise<void>;
  };
  /** Sends a test mail and returns the reply of the server. */
  readonly sendTest: (to: User) => Promise<MailReceipt>;
  /** Unsent mails, newest first. */
  readonly unsent: (limit: number) => Promise<
    readonly {
      readonly id: string;
      readonly to: readonly string[];
      readonly subject: string;
      readonly state: 'waiting' | 'failed';
      readonly attempts: number;
      readonly nextAttemptAt: number;
      readonly createdAt: number;
      readonly lastError: string;
      readonly canRetry: boolean;
    }[]
  >;
  /** Sends a failed mail after all. False: it cannot be sent any more. */
  readonly retry: (id: string) => Promise<boolean>;
  readonly remove: (id: string) => Promise<boolean>;
}

const fields = ['host', 'port', 'security', 'user', 'from_name', 'from_email'] as const;
const securityOptions = [
  { value: 'starttls', label: 'STARTTLS, usually port 587' },
  { value: 'tls', label: 'TLS, usually port 465' },
  { value: 'none', label: 'None, usually port 25' },
];
const maxListed = 50;

/** The SMTP server of the site, a test, and the mails that are not sent yet. */
export function createMailPage({ settings, sendTest, unsent, retry, remove }: MailPageDependencies): AdminPageBody {
  async function page(
    { user }: AdminRequest,
    { typed, errors = {} }: { readonly typed?: Readonly<Record<string, unknown>>; readonly errors?: FieldErrors } = {},
  ): Promise<NonNullable<AdminActionResult['page']>> {
    const saved = await settings.read();
    const server = saved && { ...saved.server, from_name: saved.server.fromName, from_email: saved.server.fromEmail };
    return {
      template: 'admin/pages/mail',
      data: {
        values: typed ?? server ?? { port: 587, security: 'starttls' },
        errors,
        isSetUp: saved !== null,
        hasPassword: saved !== null && saved.password !== null,
        securityOptions,
        email: user.email,
        mails: (await unsent(maxListed)).map((mail) => ({
          ...mail,
          to: mail.to.join(', '),
          isWaiting: mail.state === 'waiting',
          fields: { id: mail.id },
        })),
      },
    };
  }
  return {
    render: (request) => page(request),
    actions: {
      save: (request) => {
        request.requireFreshSignIn();
        const typed = Object.fromEntries(fields.map((name) => [name, readText(request, name)]));
        const password = readPassword(request);
        return withFieldErrors(
          async () => {
            const { passwordDropped } = await settings.save({ ...typed, ...(password !== undefined && { password }) });
            return passwordDropped
              ? withNotice('warning', 'Saved. The server changed, so enter its password again.')
              : withNotice('success', 'Mail settings saved. Send a test mail to check them.');
          },
          (errors) => page(request, { typed, errors }),
        );
      },
      test: async ({ user }) => {
        const { reply } = await sendTest(user);
        return withNotice('success', `Test mail sent to ${user.email}. The server replied: ${reply}`);
      },
      retry: async (request) =>
        (await retry(readText(request, 'id')))
          ? withNotice('success', 'The mail is sent again. If it fails, it is listed here.')
          : withNotice('info', 'This mail was sent or deleted, or its link has expired.'),
      delete: async (request) =>
        (await remove(readText(request, 'id'))) ? withNotice('success', 'Mail deleted.') : gone,
      remove: async (request) => {
        request.requireFreshSignIn();
        await settings.remove();
        return withNotice('success', 'Mail settings removed. The site no longer sends mail.');
      },
    },
  };
}

const gone: AdminActionResult = withNotice('info', 'This mail was already sent or deleted.');

/** Undefined: unchanged. Null: remove it. */
function readPassword(request: AdminRequest): string | null | undefined {
  const typed = readRawText(request, 'password');
  if (typed !== '') return typed;
  const removed = request.form['_remove'];
  return Array.isArray(removed) && removed.includes('password') ? null : undefined;
}

import { isUrl, type AdminPageBody, type AdminRequest, type AdminView, withFieldErrors } from '#plugin-api';
import { readText } from './forms.ts';
import { roleLabels, type UserPagesDependencies } from './users-contract.ts';

/** What an application asks for, by the parameters that WordPress documents. */
interface Asked {
  /** Its own name for itself. */
  readonly name: string;
  /** UUID, or empty. */
  readonly appId: string;
  /** Where the user returns to, with the password or without; empty: the application has no address. */
  readonly successUrl: string;
  readonly rejectUrl: string;
}

/** Why nothing is asked of the user. */
interface Refusal {
  /** Sentences. */
  readonly text: string;
  /** Back to the application, which learns of it; empty: its address is not safe, or it has none. */
  readonly href: string;
}

const template = 'admin/pages/authorize-application';
/**
 * Why an application must not receive a password at this address; null: it may. HTTPS, HTTP to the computer itself by address, and
 * the schemes that programs choose for themselves are allowed: those have a dot, as the reversed domain of their makers has (RFC 8252,
 * 7.1). Other schemes start unrelated programs. Stricter than WordPress, no user name or password may be in it: it
 * hides who receives the password.
 */
export function returnUrlError(url: string): string | null {
  const isWritten = /^[a-z][a-z0-9+.-]*:\/\/[^/\\?#]/i.test(url) && !/[\s\p{Cc}\\]/u.test(url) && isUrl(url);
  if (!isWritten) return 'Its return address is not a valid URL.';
  const { protocol, hostname, username, password } = new URL(url);
  if (!/^https?:$/.test(protocol) && !protocol.includes('.'))
    return 'Its return address must begin with https:// or with a scheme of its makers, such as com.example.app://.';
  if (username !== '' || password !== '') return 'Its return address contains a user name or a password.';
  const isLoopback = hostname === '127.0.0.1' || hostname === '[::1]';
  return protocol === 'http:' && !isLoopback ? 'Its return address is not secure: it must use HTTPS.' : null;
}

/** Sends a user who approves back with the parameters of WordPress; they come before a fragment. */
export function withQuery(url: string, values: Readonly<Record<string, string>>): string {
  const [, address = '', fragment = ''] = /^([^#]*)(#.*)?$/s.exec(url) ?? [];
  const query = Object.entries(values).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return `${address}${address.includes('?') ? '&' : '?'}${query.join('&')}${fragment}`;
}

/**
 * `/wp-admin/authorize-application.php` of WordPress: an application asks a user for an application password. Approving
 * creates one for the signed-in user and shows it with a link back to the application, which carries it. The link is the
 * user's own click: forms of the admin may not lead to other sites.
 */
export function createAuthorizePage(dependencies: UserPagesDependencies): AdminPageBody {
  const { applicationPasswords, siteUrl } = dependencies;
  const refusalFor = async (request: AdminRequest, asked: Asked): Promise<Refusal | null> => {
    const reason = refusalOf(asked);
    if (reason !== null) return { text: `${reason} Ask the makers of the application.`, href: '' };
    const error = await dependencies.applicationPasswordsError(request.user);
    const href = rejectHref(asked);
    return error && { text: error.message, href: href === '' ? '' : withQuery(href, { error: 'disabled' }) };
  };
  const show = async (request: AdminRequest, asked: Asked, more: object = {}): Promise<AdminView> => ({
    template,
    data: {
      ...{ app: asked.name, login: request.user.login, roles: roleLabels(request.user.roles, dependencies.roles()) },
      refused: await refusalFor(request, asked),
      goesTo: asked.successUrl === '' ? '' : originOf(asked.successUrl),
      fields: {
        ...{ app_id: asked.appId, success_url: asked.successUrl, reject_url: asked.rejectUrl },
      },
      rejectHref: rejectHref(asked),
      ...more,
    },
  });
  return {
    render: async (request) =>
      show(
        request,
        readAsked((name) => request.query[name]),
      ),
    actions: {
      authorize: async (request) => {
        const asked = readAsked((name) => readText(request, name));
        if ((await refusalFor(request, asked)) !== null) return { page: await show(request, asked), status: 400 };
        request.requireFreshSignIn();
        return withFieldErrors(
          async () => {
            const { password } = await applicationPasswords.create(request.user.id, asked.name, asked.appId);
            const given = {
              site_url: siteUrl(),
              user_login: request.user.login,
              password: password.replaceAll(' ', ''),
            };
            const href = asked.successUrl === '' ? '' : withQuery(asked.successUrl, given);
            return { page: await show(request, asked, { approved: { password, href } }) };
          },
          ({ name = '' }) => show(request, asked, { nameError: name }),
        );
      },
    },
  };
}

function readAsked(read: (name: string) => unknown): Asked {
  const text = (name: string): string => {
    const value = read(name);
    return typeof value === 'string' ? value.trim() : '';
  };
  return {
    name: text('app_name').slice(0, 100),
    ...{ appId: text('app_id'), successUrl: text('success_url'), rejectUrl: text('reject_url') },
  };
}

/** Why the request is not allowed, in a sentence; null: it is. */
function refusalOf({ appId, successUrl, rejectUrl }: Asked): string | null {
  const isUuid = appId === '' || /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(appId);
  const urls = [successUrl, rejectUrl].filter((url) => url !== '');
  return urls.map(returnUrlError).find((error) => error !== null) ?? (isUuid ? null : 'Its id must be a UUID.');
}

/** Where a user goes who does not allow it; empty: to the dashboard. */
function rejectHref({ successUrl, rejectUrl }: Asked): string {
  if (rejectUrl !== '') return rejectUrl;
  return successUrl === '' ? '' : withQuery(successUrl, { success: 'false' });
}

/** Who receives the password: `https://app.example`, or the scheme of a program. */
function originOf(url: string): string {
  if (!isUrl(url)) return '';
  const { origin, protocol } = new URL(url);
  return origin === 'null' ? `${protocol}//` : origin;
}

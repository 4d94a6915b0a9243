import { isEmail, RestError, type OptionsApi, type SecretsApi, type SecretStore } from '#plugin-api';
import { isLine } from './check-message.ts';

/** Option with the stored settings. The password is encrypted. */
export const mailOption = 'mail_settings';

/** `tls`: encrypted from the start. `starttls`: the connection must be upgraded before anything else. `none`: plain text. */
export const securities = ['starttls', 'tls', 'none'] as const;
export type Security = (typeof securities)[number];

export interface SmtpServer {
  /** Name or IP address. */
  readonly host: string;
  /** 1..65535. */
  readonly port: number;
  readonly security: Security;
  /** The server asks for no sign-in if this is empty. */
  readonly user: string;
  /** The name of the site is used if this is empty. */
  readonly fromName: string;
  readonly fromEmail: string;
}

interface StoredSettings extends SmtpServer {
  /** Encrypted; empty without one. */
  readonly password: string;
  /** The server that the password was entered for, see `originOf`. */
  readonly passwordFor: string;
}

export interface SmtpSettings {
  readonly server: SmtpServer;
  /** Null: none is stored, it was entered for another server (D35), or it cannot be read. */
  readonly password: string | null;
  /** A password is stored for this server, but another key encrypted it: nothing may be sent without it. */
  readonly isPasswordUnreadable: boolean;
}

/** `password`: a new one; null removes it; undefined leaves it unchanged. */
export interface SettingsInput {
  readonly [Name: string]: unknown;
  readonly password?: string | null;
}

export interface SettingsStore {
  /** Null while no server is set up. */
  read(): Promise<SmtpSettings | null>;
  /**
   * Validates and stores the settings. A saved password is dropped when host, port or encryption changes.
   *
   * @returns whether a saved password was dropped and must be entered again.
   * @throws RestError 400 with a message by field in `data.params`.
   */
  save(input: SettingsInput): Promise<{ readonly passwordDropped: boolean }>;
  remove(): Promise<void>;
  readonly secretStore: SecretStore;
}

export interface SettingsStoreDependencies {
  readonly options: Pick<OptionsApi, 'get' | 'update' | 'delete' | 'compareAndSet'>;
  readonly secrets: SecretsApi;
}

export function createSettingsStore({ options, secrets }: SettingsStoreDependencies): SettingsStore {
  const stored = async (): Promise<StoredSettings | null> => {
    const value = await options.get<Partial<StoredSettings> | false | null>(mailOption, null);
    return value && typeof value === 'object' && typeof value.host === 'string' && value.host !== ''
      ? (value as StoredSettings)
      : null;
  };
  return {
    async read() {
      const found = await stored();
      if (found === null) return null;
      const { password, passwordFor, ...server } = found;
      const isBound = password !== '' && passwordFor === originOf(server);
      const plain = isBound ? decryptFor(secrets, server, password) : null;
      return { server, password: plain, isPasswordUnreadable: isBound && plain === null };
    },
    async save({ password, ...input }) {
      const server = checkServer(input, password);
      const before = await stored();
      const origin = originOf(server);
      const hasSaved = before !== null && before.password !== '';
      const keepsSaved = password === undefined && hasSaved && before.passwordFor === origin;
      const encrypted =
        typeof password === 'string' ? secrets.encrypt(password, contextOf(server)) : keepsSaved ? before.password : '';
      const settings: StoredSettings = { ...server, password: encrypted, passwordFor: encrypted === '' ? '' : origin };
      await options.update(mailOption, settings, { autoload: false });
      return { passwordDropped: password === undefined && hasSaved && !keepsSaved };
    },
    async remove() {
      await options.delete(mailOption);
    },
    secretStore: {
      async rewrite(change) {
        const found = await stored();
        if (found === null || found.password === '') return;
        const password = change({
          label: 'Password of the mail server',
          encrypted: found.password,
          context: contextOf(found),
        });
        if (password !== found.password && !(await options.compareAndSet(mailOption, found, { ...found, password })))
          throw new Error('The mail settings were changed in the meantime.');
      },
    },
  };
}

/** What a password is bound to: protocol, host and port. */
function originOf({ security, host, port }: Pick<SmtpServer, 'security' | 'host' | 'port'>): string {
  return `${security}://${host.toLowerCase()}:${port}`;
}

/** Where the password is stored and what it is for. With another context it cannot be decrypted. */
function contextOf(server: SmtpServer): string {
  return `${mailOption} ${originOf(server)}`;
}

/** Null: another key or context encrypted it, so it must be entered again. */
function decryptFor(secrets: SecretsApi, server: SmtpServer, password: string): string | null {
  try {
    return secrets.decrypt(password, contextOf(server));
  } catch {
    return null;
  }
}

function checkServer(input: Readonly<Record<string, unknown>>, password: string | null | undefined): SmtpServer {
  const text = (name: string): string => String(input[name] ?? '').trim();
  const server = {
    host: text('host').replace(/^\[(.*)\]$/, '$1'),
    port: Number(text('port')),
    security: text('security') as Security,
    user: text('user'),
    fromName: text('from_name'),
    fromEmail: text('from_email'),
  };
  const isName = (value: string, maxLength: number): boolean => value === '' || isLine(value, maxLength);
  const errors = {
    ...(!/^[A-Za-z0-9._:-]{1,253}$/.test(server.host) && {
      host: 'Enter the name or the IP address of the server, like smtp.example.com.',
    }),
    ...((!Number.isInteger(server.port) || server.port < 1 || server.port > 65_535) && {
      port: 'Enter a whole number from 1 to 65535.',
    }),
    ...(!securities.includes(server.security) && { security: 'Choose one of the options.' }),
    ...(!isName(server.user, 255) && { user: 'Use at most 255 characters on one line.' }),
    ...(!isName(server.fromName, 100) && { from_name: 'Use at most 100 characters on one line.' }),
    ...(!isEmail(server.fromEmail) && { from_email: 'Enter a valid email address, like site@example.com.' }),
    ...(typeof password === 'string' &&
      (password.length > 1024 || /\p{Cc}/u.test(password)) && { password: 'Use at most 1024 characters on one line.' }),
  };
  if (Object.keys(errors).length === 0) return server;
  throw new RestError({
    code: 'rest_invalid_param',
    message: `Invalid parameter(s): ${Object.keys(errors).join(', ')}`,
    status: 400,
    data: { params: errors },
  });
}

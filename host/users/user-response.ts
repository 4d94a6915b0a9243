import { membersIn, readOnlyIn, restError, type RestError } from '#plugin-api';
import type { JsonSchema, RestRequest, User } from '#plugin-api';
import type { AvatarUrl } from './avatars.ts';
import { slugOf } from './profile.ts';
import type { Roles } from './roles.ts';

export type UserContext = 'view' | 'embed' | 'edit';

/** In the order that WordPress has for users. */
const everywhere = ['embed', 'view', 'edit'];

/** Avatar sizes in pixels, as in WordPress. */
const avatarSizes = [24, 48, 96] as const;

/** The REST schema of a user. `context` lists where each member appears. */
export const userSchema = {
  title: 'user',
  type: 'object',
  properties: {
    ...readOnlyIn(everywhere, {
      id: { type: 'integer', description: 'Unique identifier for the user.' },
      link: { type: 'string', format: 'uri', description: 'Author URL of the user.' },
      avatar_urls: {
        type: 'object',
        description: 'Avatar URLs for the user.',
        properties: Object.fromEntries(
          avatarSizes.map((size) => [
            String(size),
            { type: 'string' as const, format: 'uri', description: `Avatar URL with image size of ${size} pixels.` },
          ]),
        ),
      },
    }),
    ...membersIn(everywhere, {
      name: { type: 'string', description: 'Display name for the user.' },
      url: { type: 'string', format: 'uri', description: 'URL of the user.' },
      description: { type: 'string', description: 'Description of the user.' },
      slug: { type: 'string', description: 'An alphanumeric identifier for the user.' },
    }),
    ...readOnlyIn('edit', {
      registered_date: { type: 'string', format: 'date-time', description: 'Registration date for the user.' },
      capabilities: { type: 'object', description: 'All capabilities assigned to the user.' },
      extra_capabilities: { type: 'object', description: 'Any extra capabilities assigned to the user.' },
    }),
    ...membersIn('edit', {
      username: { type: 'string', description: 'Login name for the user.' },
      first_name: { type: 'string', description: 'First name for the user.' },
      last_name: { type: 'string', description: 'Last name for the user.' },
      email: { type: 'string', format: 'email', description: 'The email address for the user.' },
      locale: { type: 'string', description: 'Locale for the user, such as de_DE. Empty for the locale of the site.' },
      nickname: { type: 'string', description: 'The nickname for the user.' },
      roles: { type: 'array', items: { type: 'string' }, description: 'Roles assigned to the user.' },
    }),
  },
} as const satisfies JsonSchema;

export interface UserBodyContext {
  /** Without a trailing slash. */
  readonly siteUrl: string;
  readonly avatarUrl: AvatarUrl;
  readonly roles: Pick<Roles, 'isRole' | 'capabilitiesOf'>;
}

export function userBody(
  user: User,
  context: UserContext,
  { siteUrl, avatarUrl, roles }: UserBodyContext,
): Record<string, unknown> {
  const { profile } = user;
  const all: Record<keyof typeof userSchema.properties, unknown> = {
    id: user.id,
    username: user.login,
    name: user.displayName,
    first_name: profile?.firstName ?? '',
    last_name: profile?.lastName ?? '',
    email: user.email,
    url: profile?.url ?? '',
    description: profile?.description ?? '',
    link: `${siteUrl}/?author=${user.id}`,
    locale: profile?.locale ?? '',
    nickname: profile?.nickname ?? user.login,
    slug: profile?.slug ?? slugOf(user.login),
    registered_date: `${new Date(user.registeredAt ?? 0).toISOString().slice(0, 19)}+00:00`,
    roles: user.roles,
    capabilities: roles.capabilitiesOf(user.roles),
    // Each role name is a capability, the only kind of extra capability in this host.
    extra_capabilities: Object.fromEntries(user.roles.filter(roles.isRole).map((role) => [role, true])),
    avatar_urls: Object.fromEntries(avatarSizes.map((size) => [String(size), avatarUrl(user, size)])),
  };
  const { properties } = userSchema;
  return Object.fromEntries(
    Object.entries(all).filter(([name]) => properties[name as keyof typeof all].context.includes(context)),
  );
}

/** 401 for a visitor, 403 for a signed-in user. */
export function refused(request: Pick<RestRequest, 'user'>, code: string, message: string): RestError {
  return restError(request.user.id === 0 ? 401 : 403, code, message);
}

export function notLoggedIn(): RestError {
  return restError(401, 'rest_not_logged_in', 'You are not currently logged in.');
}

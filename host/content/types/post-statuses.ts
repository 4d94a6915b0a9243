import type { PostStatus, PostStatusDefinition } from '#plugin-api';
import { createRegistry, type Registry } from './registry.ts';

export type PostStatuses = Registry<PostStatus>;

const builtIn: Readonly<Record<string, PostStatusDefinition>> = {
  publish: { label: 'Published', public: true },
  future: { label: 'Scheduled', protected: true },
  draft: { label: 'Draft', protected: true },
  pending: { label: 'Pending', protected: true },
  private: { label: 'Private', private: true },
  trash: { label: 'Trash', internal: true },
  'auto-draft': { label: 'Auto draft', internal: true },
  inherit: { label: 'Inherited', internal: true },
};

/** Posts with these statuses have no permalink, so their slugs need not be unique. */
export const statusesWithoutAddress: ReadonlySet<string> = new Set(['draft', 'pending', 'auto-draft', 'trash']);

/** A registry with the post statuses of WordPress. */
export function createPostStatuses(): PostStatuses {
  const statuses = createRegistry<PostStatus>('post status');
  for (const [name, definition] of Object.entries(builtIn)) statuses.add(defineStatus(name, definition));
  return statuses;
}

/** @throws Error for an invalid name. */
export function defineStatus(name: string, definition: PostStatusDefinition): PostStatus {
  if (!/^[a-z0-9_-]{1,20}$/.test(name))
    throw new Error(`'${name}' is not a valid post status; use 1 to 20 lowercase letters, digits, '-' and '_'.`);
  return { public: false, private: false, protected: false, internal: false, ...definition, name };
}

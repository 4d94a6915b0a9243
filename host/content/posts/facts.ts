import type { PostFacts } from '../types/meta-capabilities.ts';

export interface FactsCache {
  get(id: number): PostFacts | undefined;
  note(post: PostFacts): void;
  forget(id: number): void;
  clear(): void;
}

/**
 * What capabilities need to know of posts read lately: `user.can('edit_post', 7)` must answer at once, and the database
 * cannot. A post that is not here is refused to everybody, never granted.
 *
 * @param capacity posts kept, the ones read last.
 */
export function createFactsCache(capacity = 10_000): FactsCache {
  const facts = new Map<number, PostFacts>();
  return {
    get: (id) => facts.get(id),
    note({ id, type, status, authorId, parentId, trashedFrom }) {
      facts.delete(id);
      facts.set(id, { id, type, status, authorId, parentId, trashedFrom });
      if (facts.size > capacity) facts.delete(facts.keys().next().value ?? id);
    },
    forget: (id) => void facts.delete(id),
    clear: () => facts.clear(),
  };
}

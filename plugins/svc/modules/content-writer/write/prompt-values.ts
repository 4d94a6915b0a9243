import type { HostApi } from '#plugin-api';
import type { Placeholder } from '../templates/placeholders.ts';
import { partNames, type PartName } from '../templates/template.ts';
import type { ContentDraft, ContentInput } from './draft.ts';

/** What a post that is rewritten says before. */
export type Present = Readonly<Partial<Record<Exclude<PartName, 'image' | 'tags'>, string>>> & {
  readonly tags?: readonly string[];
};

/** Characters of a text that short parts are told: enough to sum it up, and no more is paid for. */
const longestForSmall = 12_000;
/** Characters of a source. */
const longestSource = 40_000;

/** What placeholders stand for when a part is written. Parts written anew win over those of the present post. */
export async function promptValues(
  host: Pick<HostApi, 'site' | 'clock'>,
  {
    input,
    draft,
    present,
    part,
  }: {
    readonly input: ContentInput;
    readonly draft: ContentDraft;
    readonly present: Present | undefined;
    readonly part: PartName;
  },
): Promise<Record<Placeholder, string>> {
  const [site, timeZone] = await Promise.all([host.site.name(), host.site.timezone()]);
  const content = draft.content ?? present?.content ?? '';
  const valueOf = (name: Exclude<PartName, 'image' | 'tags' | 'content'>): string =>
    draft[name] ?? present?.[name] ?? '';
  return {
    topic: input.topic,
    keywords: input.keywords,
    instructions: input.instructions,
    source: input.source.slice(0, longestSource),
    source_url: input.source_url,
    title: valueOf('title') || input.topic,
    content: partNames.indexOf(part) > partNames.indexOf('content') ? content.slice(0, longestForSmall) : content,
    excerpt: valueOf('excerpt'),
    meta_description: valueOf('meta_description'),
    focus_keyword: valueOf('focus_keyword'),
    tags: (draft.tags ?? present?.tags ?? []).join(', '),
    site,
    // Sweden writes dates as ISO 8601 does.
    date: new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(host.clock.now()),
  };
}

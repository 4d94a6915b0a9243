import { argumentBounds, escapeHtml, inTurn } from '#plugin-api';
import type { Post } from '#plugin-api';
import { htmlToText } from '../html/text.ts';
import { lockedText } from './post-view.ts';
import type { PublicSiteDependencies, SiteResponse } from './site-page.ts';

/** Characters of full content in a feed (D46): as many as one post may have. */
const fullContent = argumentBounds.document.maxLength;

/** An RSS 2.0 feed of the newest posts with full content. Posts beyond 1 MB in all have their excerpt alone. */
export async function renderFeed(given: PublicSiteDependencies, posts: readonly Post[]): Promise<SiteResponse> {
  const { site } = given;
  const items: string[] = [];
  let remaining = fullContent;
  for (const post of posts) {
    const content = await fullHtml(given, post, remaining);
    remaining -= content.length;
    items.push(await renderItem(given, post, content));
  }
  const modified = Math.max(0, ...posts.map((post) => post.modified));
  const xml = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" ' +
      'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:atom="http://www.w3.org/2005/Atom">',
    '<channel>',
    `<title>${xmlText(await site.name())}</title>`,
    `<atom:link href="${xmlText(site.url)}/feed/" rel="self" type="application/rss+xml" />`,
    `<link>${xmlText(site.url)}/</link>`,
    `<description>${xmlText(await site.description())}</description>`,
    ...(modified > 0 ? [`<lastBuildDate>${new Date(modified).toUTCString()}</lastBuildDate>`] : []),
    ...items,
    '</channel>',
    '</rss>',
    '',
  ].join('\n');
  return { kind: 'feed', xml };
}

async function renderItem(
  { parts: { renderer, permalinks }, site, users }: PublicSiteDependencies,
  post: Post,
  content: string,
): Promise<string> {
  const author = post.authorId > 0 ? ((await users.get(post.authorId))?.displayName ?? '') : '';
  return [
    '<item>',
    `<title>${xmlText(htmlToText(await renderer.publicTitle(post)))}</title>`,
    `<link>${xmlText(await permalinks.url(post))}</link>`,
    ...(author === '' ? [] : [`<dc:creator>${xmlText(author)}</dc:creator>`]),
    `<pubDate>${new Date(post.date).toUTCString()}</pubDate>`,
    `<guid isPermaLink="false">${xmlText(site.url)}/?p=${post.id}</guid>`,
    ...(post.password === ''
      ? [
          `<description>${xmlText(htmlToText(await renderer.excerpt(post)))}</description>`,
          ...(content === ''
            ? []
            : [`<content:encoded>${await inTurn(content, () => xmlSection(content))}</content:encoded>`]),
        ]
      : [`<description>${xmlText(lockedText)}</description>`]),
    '</item>',
  ].join('\n');
}

/** The rendered content; empty for a post with a password, and where it is longer than what remains. */
async function fullHtml(
  { parts: { renderer } }: PublicSiteDependencies,
  post: Post,
  remaining: number,
): Promise<string> {
  if (post.password !== '' || post.content.length > remaining) return '';
  const html = await renderer.content(post);
  return html.length > remaining ? '' : html;
}

/** XML does not allow control characters, even escaped. */
function printable(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu, '');
}

const xmlText = (text: string): string => escapeHtml(printable(text));

/** As WordPress writes it. A large text would take long to escape. */
const xmlSection = (html: string): string => `<![CDATA[${printable(html).replaceAll(']]>', ']]]]><![CDATA[>')}]]>`;

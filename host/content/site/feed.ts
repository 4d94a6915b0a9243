import { escapeHtml } from '#plugin-api';
import type { Post } from '#plugin-api';
import { htmlToText } from '../html/text.ts';
import { lockedText } from './post-view.ts';
import type { PublicSiteDependencies, SiteResponse } from './site-page.ts';

/** An RSS 2.0 feed of the newest posts with full content. */
export async function renderFeed(given: PublicSiteDependencies, posts: readonly Post[]): Promise<SiteResponse> {
  const { site } = given;
  const items = await Promise.all(posts.map((post) => renderItem(given, post)));
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
          `<content:encoded>${xmlText(await renderer.content(post))}</content:encoded>`,
        ]
      : [`<description>${xmlText(lockedText)}</description>`]),
    '</item>',
  ].join('\n');
}

/** XML does not allow control characters, even escaped. */
function xmlText(text: string): string {
  return escapeHtml(
    text.replace(
      /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
      '',
    ),
  );
}

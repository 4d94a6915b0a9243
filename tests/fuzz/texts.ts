import type { FuzzRequest } from './requests.ts';

/** Parts that an author repeats in a post, each for something that reads, renders or scans it. */
export const textParts = [
  ...['a', 'ab ', '中', '😀', 'a\u0301', '\n', 'a\n', '\n \n a', ' ', '\t'],
  ...['<', '>', '&', '"', '&lt;', '&#', '&#x1;', '&amp', '<!--', '<!-- -->', '<![CDATA[', '<?', '<!-- wp:p -->'],
  ...['<a', '<a href="', '<a href=x>y</a>', '<p>', '<p></p>', '<br ', '<table>', '<table "', '<img src=x>', '<img/0'],
  ...['<script', '<script>', '</script ', '<style ', '<style </style', '<li><b>', '<svg/onload=', '<td title=\'"'],
  ...['[', '[[', ']', '[svc_form]', '[svc_form ', '[svc_form a="', "[svc_form a='", '[[svc_form]', '[[svc_form]]'],
  ...[
    '[svc_form][/svc_form]',
    '[svc_form][/svc_form ',
    '[/svc_form]',
    '[svc_chatbot id=1]',
    '[svc_chatbot a=<',
    '[svc_form]x',
  ],
  ...['[](', '![](', '[a](b)', '**', '> ', '* ', '# ', '`', '```\n', '|a', '1. ', '\\', '~~', '<http://', '***a** '],
];

/** A post, excerpt included, that repeats the part up to so many bytes as JSON. */
export function postOf(part: string, length: number, headers: FuzzRequest['headers']): FuzzRequest {
  const bytes = Buffer.byteLength(JSON.stringify(part)) - 2;
  const fill = (most: number): string => part.repeat(Math.max(1, Math.floor(Math.min(length, most) / bytes)));
  const body = { title: `Repeats ${part}`, content: fill(970_000), excerpt: fill(60_000), status: 'publish' };
  return {
    method: 'POST',
    path: '/wp/v2/posts',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
}

/** Where a visitor meets the post. */
export const viewsOf = (id: number): readonly string[] => [
  ...[`/?p=${String(id)}`, '/', '/feed/', '/?s=a'],
  ...[`/wp-json/wp/v2/posts/${String(id)}`, '/wp-json/wp/v2/posts', '/wp-json/wp/v2/search?search=a'],
];

import { expect } from 'chai';
import type { AdminPageDeclaration } from '#plugin-api';
import { breadcrumbsOf, buildMenu } from '../../host/admin/menu.ts';

const groups = [
  { id: 'content', title: 'Content', icon: 'page', position: 10 },
  { id: 'chat', title: 'Chat', icon: 'chat', position: 20 },
  { id: 'system', title: 'System', icon: 'gear', position: 80 },
];
const pages: readonly AdminPageDeclaration[] = [
  { slug: '', title: 'Dashboard', menu: 'Dashboard', position: 0 },
  { slug: 'svc/bots', title: 'Chatbots', menu: 'Chatbots', group: 'chat', parent: 'svc/bots', position: 1 },
  { slug: 'svc/bots/rule', title: 'Rule', parent: 'svc/bots' },
  { slug: 'svc/logs', title: 'Chat logs', menu: 'Chat logs', group: 'chat', position: 2 },
  { slug: 'svc/conversation', title: 'Conversation', parent: 'svc/logs' },
  { slug: 'plugins', title: 'Plugins', menu: 'Plugins', group: 'system' },
  { slug: 'tools', title: 'Tools', group: 'system' },
  { slug: 'tools/cron', title: 'Cron', menu: 'Cron', group: 'system' },
  { slug: 'tools/orders', title: 'Orders tool', menu: 'Orders tool', parent: 'tools', position: 99 },
  { slug: 'posts', title: 'Posts', menu: 'Posts', group: 'content' },
  { slug: 'orders', title: 'Orders', menu: 'Orders' },
  { slug: 'orders/edit', title: 'Order' },
  { slug: 'loop', title: 'Loop', parent: 'knot' },
  { slug: 'knot', title: 'Knot', parent: 'loop' },
];

describe('the menu of the admin', () => {
  const menu = (slug: string) => buildMenu({ pages, groups }, slug);
  const outline = (slug: string): unknown[] =>
    menu(slug).map(({ title, children }) =>
      children.length === 0 ? title : [title, ...children.map((child) => child.title)],
    );
  const marked = (slug: string): unknown[] =>
    menu(slug).flatMap(({ title, current, isOpen, children }) => [
      ...(current ? [[title, current]] : []),
      ...(isOpen ? [[title, 'open']] : []),
      ...children.flatMap((child) => (child.current ? [[child.title, child.current]] : [])),
    ]);

  it('has groups by position, pages without a group between them, and a group of one page as that page', () => {
    expect(outline('')).to.deep.equal([
      'Dashboard',
      'Posts',
      ['Chat', 'Chatbots', 'Chat logs'],
      'Orders',
      ['System', 'Plugins', 'Cron', 'Orders tool'],
    ]);
  });

  it('marks the page and opens its group', () => {
    expect(marked('')).to.deep.equal([['Dashboard', 'page']]);
    expect(marked('svc/bots')).to.deep.equal([
      ['Chat', 'open'],
      ['Chatbots', 'page'],
    ]);
  });

  it('marks the entry above a page that is not in the menu: its parent, or the longest slug that it extends', () => {
    expect(marked('svc/conversation')).to.deep.equal([
      ['Chat', 'open'],
      ['Chat logs', 'true'],
    ]);
    expect(marked('orders/edit')).to.deep.equal([['Orders', 'true']]);
    expect(marked('loop')).to.deep.equal([]);
    expect(marked('!')).to.deep.equal([]);
  });

  it('leaves out groups whose pages the user may not open', () => {
    const few = pages.filter(({ slug }) => slug === '' || slug === 'posts');
    expect(buildMenu({ pages: few, groups }, '').map(({ title }) => title)).to.deep.equal(['Dashboard', 'Posts']);
  });

  it('gives breadcrumbs: the group and the pages above', () => {
    const path = (slug: string): unknown[] =>
      breadcrumbsOf({ pages, groups }, slug).map(({ title, href }) => [title, href]);
    expect(path('svc/bots/rule')).to.deep.equal([
      ['Chat', null],
      ['Chatbots', '/admin/svc/bots'],
    ]);
    expect(path('svc/bots')).to.deep.equal([['Chat', null]]);
    expect(path('tools/orders')).to.deep.equal([
      ['System', null],
      ['Tools', '/admin/tools'],
    ]);
    expect([path(''), path('missing'), path('loop')]).to.deep.equal([[], [], [['Knot', '/admin/knot']]]);
  });
});

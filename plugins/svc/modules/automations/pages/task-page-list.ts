import type { ServiceContext } from '../../../wiring.ts';
import { lazyPage } from '../../../kit/lazy.ts';
import { itemSlug, taskEditSlug, taskSlug, tasksSlug } from './task-slugs.ts';

/** Largest CSV file that is taken, in bytes. */
const uploadLimit = 2_000_000;
const look = { style: 'automations.css', script: 'automations.js' } as const;

/** The pages of automations. */
export const taskPages = [
  lazyPage<ServiceContext>({
    slug: tasksSlug,
    title: 'Automations',
    menu: 'Automations',
    parent: 'svc',
    icon: 'clock',
    position: 15,
    ...look,
    body: async () => (await import('./tasks.page.ts')).tasksPage,
  }),
  lazyPage<ServiceContext>({
    slug: taskEditSlug,
    title: 'Edit task',
    parent: tasksSlug,
    uploadLimit,
    ...look,
    body: async () => (await import('./task-edit.page.ts')).taskEditPage,
  }),
  lazyPage<ServiceContext>({
    slug: taskSlug,
    title: 'Task',
    parent: tasksSlug,
    ...look,
    body: async () => (await import('./task.page.ts')).taskPage,
  }),
  lazyPage<ServiceContext>({
    slug: itemSlug,
    title: 'Item',
    parent: tasksSlug,
    ...look,
    body: async () => (await import('./item.page.ts')).itemPage,
  }),
];

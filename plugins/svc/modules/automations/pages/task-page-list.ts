import type { ServiceContext } from '../../../context.ts';
import { lazyPage } from '../../../kit/lazy.ts';

export const tasksSlug = 'svc/tasks';
export const taskSlug = 'svc/tasks/task';
export const taskEditSlug = 'svc/tasks/edit';
export const itemSlug = 'svc/tasks/item';

/** Largest CSV file that is taken, in bytes. */
const uploadLimit = 2_000_000;

/** The pages of automations. */
export const taskPages: ReturnType<typeof lazyPage<ServiceContext>>[] = [];

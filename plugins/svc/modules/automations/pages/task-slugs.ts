export const tasksSlug = 'svc/tasks';
export const taskSlug = 'svc/tasks/task';
export const taskEditSlug = 'svc/tasks/edit';
export const itemSlug = 'svc/tasks/item';

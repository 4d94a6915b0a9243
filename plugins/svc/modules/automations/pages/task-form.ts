import { readFile } from 'node:fs/promises';
import type { AdminRequest } from '#plugin-api';
import type { AutomationTaskType } from '../../../kit/automation-task.ts';
import { readGroup, readText } from '../../../admin-ui/form-values.ts';
import type { Task } from '../tasks/task.ts';
import { namedSchedules } from './task-words.ts';
import { readSettings } from './settings-fields.ts';

/** A task as somebody typed it: members may be of any type. */
export type TaskDraft = Readonly<Record<string, unknown>>;

/** Reads the form of a task of this type. Where no CSV is typed or sent, the one that was saved stays. */
export async function readTask(
  request: AdminRequest,
  type: AutomationTaskType,
  before: Task | null,
): Promise<TaskDraft> {
  const schedule = readText(request, 'schedule');
  const limits = readGroup(request, 'limits');
  return {
    name: readText(request, 'name').trim(),
    type: type.id,
    settings: readSettings(type.settings, request.form),
    source: await readSource(request, before),
    schedule:
      schedule === 'cron'
        ? readText(request, 'cron').trim()
        : namedSchedules.some(({ value }) => value === schedule)
          ? schedule
          : '',
    author_id: numberOf(readText(request, 'author_id')) ?? 0,
    limits: { run: numberOf(limits['run']) ?? 0, day: numberOf(limits['day']) ?? 0 },
    attempts: numberOf(readText(request, 'attempts')) ?? 3,
  };
}

async function readSource(request: AdminRequest, before: Task | null): Promise<TaskDraft> {
  const source = readGroup(request, 'source');
  const text = (name: string): string =>
    typeof source[name] === 'string' ? source[name].replaceAll('\r\n', '\n') : '';
  const kind = text('kind');
  switch (kind) {
    case 'list':
      return {
        kind,
        items: text('items')
          .split('\n')
          .map((line) => line.trim())
          .filter((line) => line !== ''),
      };
    case 'csv':
      return { kind, text: await readCsvText(request, text('text'), before) };
    case 'rss':
      return { kind, url: text('url').trim() };
    case 'posts':
      return {
        kind,
        post_type: text('post_type'),
        status: text('status'),
        category: text('category').trim(),
        search: text('search').trim(),
        changed_since: text('changed_since').trim(),
        again: text('again') === '1',
      };
    default:
      return { kind };
  }
}

async function readCsvText({ files }: AdminRequest, typed: string, before: Task | null): Promise<string> {
  const file = files?.['file'];
  if (file && file.size > 0) return readFile(file.path, 'utf8');
  if (typed.trim() !== '') return typed;
  return before?.source.kind === 'csv' && typed === '' ? before.source.text : '';
}

function numberOf(typed: unknown): number | string | undefined {
  const text = typeof typed === 'string' ? typed.trim() : '';
  if (text === '') return undefined;
  return Number.isFinite(Number(text)) ? Number(text) : text;
}

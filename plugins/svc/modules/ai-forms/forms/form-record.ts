import type { AiForm, FormSettings } from './form.ts';

/** What is set of a form, without its id, count and times. */
export function settingsOf({
  id: _id,
  submissions: _count,
  created_at: _created,
  updated_at: _updated,
  ...settings
}: AiForm): FormSettings {
  return settings;
}

/** A form as commands print it: its id first, times as ISO 8601. */
export function formRecord(form: AiForm): Record<string, unknown> {
  return {
    id: form.id,
    ...settingsOf(form),
    submissions: form.submissions,
    created_at: new Date(form.created_at).toISOString(),
    updated_at: new Date(form.updated_at).toISOString(),
  };
}

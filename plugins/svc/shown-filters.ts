import type { HooksApi } from '#plugin-api';

/** Filters of the service whose value is shown or offered: a mistake of one plugin takes nothing else away. */
export const shownFilters = [
  ...['svc_chatbot_demo_site', 'svc_chatbot_pretend_shop', 'svc_chatbot_widget_config', 'svc_form_config'],
  ...['svc_content_templates', 'svc_event_schemas', 'svc_knowledge_bases', 'svc_provider_users'],
  ...['svc_providers', 'svc_vector_stores', 'svc_automation_task_types', 'svc_sandbox_available'],
];

export function keepShownValues(hooks: Pick<HooksApi, 'keepValueOnError'>): void {
  hooks.keepValueOnError(shownFilters);
}

import type { HooksApi } from '#plugin-api';

/** Filters of the host whose value is a part of a page or feed, or an address in it. */
export const shownFilters = [
  ...['body_class', 'document_title', 'post_class', 'site_navigation', 'template_include', 'wp_footer', 'wp_head'],
  ...['the_title', 'protected_title_format', 'the_content', 'do_shortcode_tag', 'pre_do_shortcode_tag'],
  ...['get_the_excerpt', 'the_excerpt', 'excerpt_length', 'excerpt_more', 'comment_text'],
  ...['get_avatar_url', 'wp_get_attachment_image_attributes'],
  ...['page_link', 'post_link', 'post_type_link', 'term_link'],
  ...[
    'admin_alerts',
    'admin_home',
    'admin_next_steps',
    'admin_recent_failures',
    'admin_search',
    'admin_settings_groups',
  ],
  ...['cron_event_labels', 'debug_information', 'site_status_tests', 'site_status_test_result'],
  ...[
    'mcp_prompts',
    'mcp_resources',
    'rest_index',
    'rest_namespace_index',
    'rest_openapi',
    'rest_response_link_curies',
  ],
  ...['rest_allowed_cors_headers', 'rest_exposed_cors_headers', 'rest_get_max_batch_size'],
];

/** Filters that every page of the admin goes through, also the one where a plugin is deactivated. None of them lets in or hides. */
export const neededFilters = ['nonce_life'];

/**
 * A page or feed is served without what a mistake of a plugin would have changed in it. Filters of queries and responses are not among
 * them: plugins hide with them, and a mistake must not show what is hidden.
 */
export function keepShownValues(hooks: Pick<HooksApi, 'keepValueOnError'>): void {
  hooks.keepValueOnError([...shownFilters, ...neededFilters]);
}

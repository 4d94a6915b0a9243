import { restError, type RestError, defineErrors } from '#plugin-api';

/** Content errors, with WordPress codes where they exist. */
export const contentErrors = defineErrors('', {
  rest_post_invalid_id: [404, 'Invalid post ID.'],
  empty_content: [400, 'Content, title, and excerpt are empty. Provide at least one of them.'],
  invalid_post_type: [400, "The post type '{type}' does not exist. Register it first."],
  invalid_post_status: [400, "The post status '{status}' does not exist."],
  rest_taxonomy_invalid: [404, 'Invalid taxonomy.'],
  rest_term_invalid: [404, 'Term does not exist.'],
  rest_term_invalid_parent: [400, 'A term cannot be its own parent or that of a term above it. Choose another parent.'],
  rest_taxonomy_not_hierarchical: [400, 'Cannot set parent term, taxonomy is not hierarchical.'],
  rest_cannot_delete_default_term: [400, 'The default category cannot be deleted. Choose another default first.'],
  term_exists: [400, 'A term with the name provided already exists {where}.'],
  empty_term_name: [400, 'A name is required for this term.'],
  duplicate_term_slug: [400, 'The slug “{slug}” is already in use by another term.'],
  html_too_deep: [400, 'The HTML has more than {limit} elements inside each other. Close them, or use fewer.'],
  html_too_many_tags: [400, 'The HTML has more than {limit} tags. Shorten it, or write several posts.'],
  content_too_long: [400, 'The text is longer than {limit} characters as HTML. Shorten it, or write several posts.'],
  excerpt_too_long: [400, 'The excerpt is longer than {limit} characters as HTML. Shorten it.'],
  rest_list_too_large: [400, 'The posts of this page hold more than 10 MB of text. Request fewer with per_page.'],
  rest_upload_no_data: [400, 'No data supplied.'],
  rest_upload_file_too_big: [400, 'This file is too big. Files must be less than {limit} in size.'],
  rest_upload_sideload_error: [400, 'Sorry, you are not allowed to upload this file type. {reason}'],
  rest_upload_failed: [500, 'The file could not be stored. Ask the administrator to check where uploads are stored.'],
});

/** 400 `rest_post_invalid_id`: the parent does not exist or is a descendant of this post. */
export function invalidParent(): RestError {
  return restError(400, 'rest_post_invalid_id', 'Invalid post parent ID.');
}

import { RestError, defineErrors } from '#plugin-api';

/** Content errors, with WordPress codes where they exist. */
export const contentErrors = defineErrors('', {
  rest_post_invalid_id: [404, 'Invalid post ID.'],
  empty_content: [400, 'Content, title, and excerpt are empty. Provide at least one of them.'],
  invalid_post_type: [400, "The post type '{type}' does not exist. Register it first."],
  invalid_post_status: [400, "The post status '{status}' does not exist."],
  rest_upload_no_data: [400, 'No data supplied.'],
  rest_upload_file_too_big: [400, 'This file is too big. Files must be less than {limit} in size.'],
  rest_upload_sideload_error: [400, 'Sorry, you are not allowed to upload this file type. {reason}'],
  rest_upload_failed: [500, 'The file could not be stored. Ask the administrator to check where uploads are stored.'],
});

/** 400 `rest_post_invalid_id`: the parent does not exist or is a descendant of this post. */
export function invalidParent(): RestError {
  return new RestError({ code: 'rest_post_invalid_id', message: 'Invalid post parent ID.', status: 400 });
}

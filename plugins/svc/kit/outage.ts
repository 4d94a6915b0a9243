import { RestError, type DatabaseApi } from '#plugin-api';

/** An outage of the database as REST responds to it, any other error as it is. For what is shown after a response began. */
export function nameOutage(
  { isUnavailable }: Pick<DatabaseApi, 'isUnavailable'>,
  error: unknown,
  message = 'The site cannot use its database at the moment. Try again in a few seconds.',
): unknown {
  if (error instanceof RestError || !isUnavailable(error)) return error;
  return new RestError({ code: 'rest_service_unavailable', message, status: 503, cause: error });
}

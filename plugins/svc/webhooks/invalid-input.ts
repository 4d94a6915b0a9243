import { RestError } from '#plugin-api';

/** @param faults a sentence for each field that is at fault */
export function invalid(faults: Readonly<Record<string, string>>): RestError {
  return new RestError({
    code: 'rest_invalid_param',
    message: Object.values(faults).join(' '),
    status: 400,
    data: { params: faults },
  });
}

import imported from '@wordpress/api-fetch';

/** The client. The package's types describe its CommonJS build, where the function is a member of the module; node loads the other one. */
export const apiFetch = imported as unknown as typeof imported.default;

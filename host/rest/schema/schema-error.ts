/** Why a value is invalid, as sent in `data.details`. `data` is null unless the error has its own members. */
export interface SchemaError {
  readonly code: string;
  readonly message: string;
  readonly data: Readonly<Record<string, unknown>> | null;
}

export function schemaError(code: string, message: string, data: SchemaError['data'] = null): SchemaError {
  return { code, message, data };
}

export function typeError(param: string, type: string): SchemaError {
  return schemaError('rest_invalid_type', `${param} is not of type ${type}.`, { param });
}

/** `1 item`, `2 items`. */
export function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

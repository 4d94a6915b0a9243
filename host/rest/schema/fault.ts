/** Why a value was refused, as it goes out in `data.details`. `data` is null unless the fault has members of its own. */
export interface SchemaFault {
  readonly code: string;
  readonly message: string;
  readonly data: Readonly<Record<string, unknown>> | null;
}

export function fault(code: string, message: string, data: SchemaFault['data'] = null): SchemaFault {
  return { code, message, data };
}

export function typeFault(param: string, type: string): SchemaFault {
  return fault('rest_invalid_type', `${param} is not of type ${type}.`, { param });
}

/** `1 item`, `2 items`. */
export function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

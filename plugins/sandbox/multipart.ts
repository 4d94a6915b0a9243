/** A file of a form. */
export interface FormFile {
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
}

export function isFormFile(value: unknown): value is FormFile {
  return typeof value === 'object' && value !== null && Buffer.isBuffer((value as { bytes?: unknown }).bytes);
}

/** Fields of a form as texts, files as FormFile; the last of equal names counts. Null: it cannot be read. */
export async function parseMultipart(
  bytes: Uint8Array,
  contentType: string,
): Promise<Readonly<Record<string, unknown>> | null> {
  try {
    const form = await new Response(bytes as Uint8Array<ArrayBuffer>, {
      headers: { 'content-type': contentType },
    }).formData();
    const fields: Record<string, unknown> = {};
    for (const [name, value] of form) {
      fields[name] =
        typeof value === 'string'
          ? value
          : { name: value.name, type: value.type, bytes: Buffer.from(await value.arrayBuffer()) };
    }
    return fields;
  } catch {
    return null;
  }
}

import { isRecord } from '#plugin-api';
import { invalid } from '../kit/read-members.ts';
import { base64Of, type MessageImage, type NativeRequest } from '../providers/provider.ts';
import type { ImageAddresses } from './image-addresses.ts';
import { imageTypes } from './sent-content.ts';

type Members = Readonly<Record<string, unknown>>;

interface LoadInit {
  readonly images: ImageAddresses;
  readonly signal: AbortSignal | undefined;
}

/**
 * A request as it was sent, for a vendor that must not fetch what it names by address: its server may reach addresses that are not
 * public. Images are fetched here, and take the position of their addresses.
 *
 * @throws RestError 400 that names the member, for a file by address or an image that cannot be fetched
 */
export async function loadAddresses(
  { body, format }: Pick<NativeRequest, 'body' | 'format'>,
  { images, signal }: LoadInit,
): Promise<Members> {
  const found: MessageImage[] = [];
  eachPart(body, (part, path) => {
    const address = addressIn(part, path);
    if (address !== undefined) found.push(images.add(address.url, address.path));
    return part;
  });
  if (found.length === 0) return body;
  const [loaded] = await images.load([{ role: 'user', content: '', images: found }], signal);
  const byUrl = new Map(loaded?.images?.map((image) => [image.url, image]));
  return eachPart(body, (part, path) => {
    const address = addressIn(part, path);
    const image = address && byUrl.get(address.url);
    return image === undefined ? part : withData(part, image, format);
  });
}

/** Members of a request that have parts of messages, at any depth. */
const spoken: readonly string[] = ['messages', 'input', 'system', 'prompt', 'instructions'];

/** The body with each object of its messages replaced by what `change` returns, the inner ones of that too. */
function eachPart(body: Members, change: (part: Members, path: string) => Members): Members {
  const walk = (value: unknown, path: string): unknown => {
    if (Array.isArray(value)) return value.map((item, index) => walk(item, `${path}[${String(index)}]`));
    if (!isRecord(value)) return value;
    const entries = Object.entries(change(value, path));
    // What a tool is called with is the caller's own data.
    const isData = (name: string): boolean => name === 'input' || name === 'arguments';
    return Object.fromEntries(
      entries.map(([name, member]) => [name, isData(name) ? member : walk(member, `${path}.${name}`)]),
    );
  };
  return Object.fromEntries(
    Object.entries(body).map(([name, member]) => [name, spoken.includes(name) ? walk(member, name) : member]),
  );
}

interface Address {
  readonly url: string;
  readonly path: string;
}

/** Where parts have an address, by their type, in all formats. Those of images come first. */
function addressIn(part: Members, path: string): Address | undefined {
  const { type } = part;
  const [member, inner] = typeof type === 'string' && Object.hasOwn(members, type) ? (members[type] ?? []) : [];
  if (member === undefined) return undefined;
  const outer = part[member];
  if (member === 'source' && isRecord(outer) && outer['type'] !== 'url') return undefined;
  const isInner = isRecord(outer) && inner !== undefined;
  const url = isInner ? outer[inner] : outer;
  const at = `${path}.${member}${isInner ? `.${inner}` : ''}`;
  if (typeof url !== 'string' || /^data:/i.test(url)) return undefined;
  if (imageTypes.includes(type)) return { url, path: at };
  // Its data may be base64 alone.
  if (member === 'file' && !url.includes(':')) return undefined;
  throw invalid(at, 'must be the file itself: its address is fetched by the vendor’s own servers alone.');
}

const members: Readonly<Record<string, readonly [member: string, inner?: string]>> = {
  image_url: ['image_url', 'url'],
  input_image: ['image_url', 'url'],
  computer_screenshot: ['image_url'],
  image: ['source', 'url'],
  document: ['source', 'url'],
  input_file: ['file_url'],
  file: ['file', 'file_data'],
  video_url: ['video_url', 'url'],
};

function withData(part: Members, image: MessageImage, format: NativeRequest['format']): Members {
  const data = base64Of(image);
  if (format === 'messages') return { ...part, source: { type: 'base64', media_type: image.mimeType, data } };
  const url = `data:${image.mimeType};base64,${data}`;
  const { image_url: before } = part;
  return { ...part, image_url: isRecord(before) ? { ...before, url } : url };
}

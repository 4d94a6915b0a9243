import { isRecord } from '#plugin-api';
import { sampleOf } from './sample-texts.ts';

/** What of a request costs tokens at the vendor that gets it. */
export interface SentContent {
  /** All texts, numbers, and names of members, wherever they are. */
  readonly texts: readonly string[];
  /** Characters of files and other data. */
  readonly dataLength: number;
  readonly images: number;
}

type Members = Readonly<Record<string, unknown>>;

/** Types of a part that is one image, in all formats. */
export const imageTypes: readonly unknown[] = ['image', 'image_url', 'input_image', 'computer_screenshot'];
/** Members that hold base64 or a `data:` URL in one of the formats. The same characters are a text in any other member. */
const dataMembers: ReadonlySet<string> = new Set([
  ...['data', 'file_data', 'url', 'image_url'],
  ...['encrypted_content', 'signature', 'thought_signature'],
]);

/**
 * Reads a body in the format of a vendor, known members and unknown ones alike: a vendor may count each of them (D55). Takes time for
 * each value, and hardly any for the length of its text.
 */
export function readSent(body: Members): SentContent {
  const texts: string[] = [];
  let [dataLength, images] = [0, 0];
  const read = (value: unknown, isInImage: boolean): void => {
    if (typeof value === 'string') texts.push(value);
    else if (Array.isArray(value) && value.length > 0) for (const element of value) read(element, isInImage);
    else if (isRecord(value) && Object.keys(value).length > 0) readMembers(value, isInImage);
    else texts.push(JSON.stringify(value));
  };
  const readMembers = (object: Members, isInImage: boolean, isSound = false): void => {
    const isImage = imageTypes.includes(object['type']);
    if (isImage) images += 1;
    for (const [name, member] of Object.entries(object)) {
      texts.push(name);
      if (object['type'] === 'input_audio' && name === 'input_audio' && isRecord(member))
        readMembers(member, isInImage, true);
      else if (!isData(name, member, object)) read(member, isInImage || isImage);
      else if (isSound) dataLength += member.length / charactersOfSound;
      else if (!(isInImage || isImage) || !isImageData(member, object)) dataLength += member.length;
    }
  };
  read(body, false);
  return { texts, dataLength, images };
}

/** Shorter data count as texts. */
const shortestData = 200;
const beginning = /^data:[^,]{0,200};base64,/i;

/** A document of Claude's has its text in `data`. */
function isData(name: string, member: unknown, { type }: Members): member is string {
  if (typeof member !== 'string' || member.length < shortestData || type === 'text') return false;
  if (!dataMembers.has(name)) return false;
  const start = beginning.exec(member)?.[0].length ?? 0;
  return /^[\w+/=-]*$/.test(sampleOf([start === 0 ? member : member.slice(start)]));
}

/** Characters of sound per character of other data: at 8 kbit a second, where no vendor counts more than ten tokens of it. */
const charactersOfSound = 32;

function isImageData(data: string, { media_type: mediaType }: Members): boolean {
  return /^data:image\/(?!svg)/i.test(data) || /^image\/(?!svg)/i.test(String(mediaType));
}

import type { Images } from './images.ts';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { parseId } from '#plugin-api';
import type { CliCommand } from '#plugin-api';
import { toDollars } from '../../kit/dollars.ts';
import { readJob, type JobFields, sourceOfImage, sourceOfMedia } from './generation/read-job.ts';
import type { JobSource } from './generation/image-job.ts';
import { fieldsOf, imageRecord } from './command-records.ts';
import { videoCommands } from './videos/video-commands.ts';
import type { StoredImage } from './store/image.ts';

const jsonFlag = (description: string) => ({ json: { type: 'object', description } }) as const;

/** `svc image generate|edit|list|get|delete|public`, `svc video generate|list`. */
export function imageCommands(parts: Images): CliCommand[] {
  return [...generationCommands(parts), ...historyCommands(parts), ...publicCommands(parts), ...videoCommands(parts)];
}

function generationCommands(parts: Images): CliCommand[] {
  const { generator } = parts;
  const generate = async (fields: JobFields, source?: JobSource) => {
    const { images, message, cost } = await generator.generate(
      readJob({ provider: 'openai', ...fields }, { request: randomUUID(), userId: 0, source }),
    );
    return { message, cost: toDollars(cost), images: images.map(imageRecord) };
  };
  return [
    {
      name: 'svc image generate',
      description: 'Generate images, add them to the media library and print them.',
      flags: jsonFlag('{"prompt", "provider"?, "model"?, "n"?, "size"?, "quality"?, "style"?}'),
      run: async ({ flags }) => generate(fieldsOf(flags, '{"prompt": "A lighthouse", "provider": "openai"}')),
    },
    {
      name: 'svc image edit',
      description: 'Edit an image and print the new version.',
      flags: jsonFlag(
        'As for generate, plus the image to edit: ' +
          '"image" (id in the history), "media" (id in the media library) or "file" (path); optional "mask" (path).',
      ),
      run: async ({ flags }) => {
        const fields = fieldsOf(flags, '{"image": 7, "prompt": "Make it night", "provider": "openai"}');
        return generate(fields, await sourceOf(parts, fields));
      },
    },
  ];
}

async function sourceOf(parts: Images, fields: JobFields): Promise<JobSource> {
  const mask = typeof fields['mask'] === 'string' ? { mask: await readFile(fields['mask']) } : {};
  if (fields['image'] !== undefined)
    return { ...(await sourceOfImage(parts, await find(parts, String(fields['image'])))), ...mask };
  if (fields['media'] !== undefined) return { ...(await sourceOfMedia(parts, Number(fields['media']))), ...mask };
  if (typeof fields['file'] === 'string')
    return { image: await readFile(fields['file']), mediaId: null, parentId: null, ...mask };
  throw new Error('Name the image to edit: "image", "media" or "file".');
}

function historyCommands(parts: Images): CliCommand[] {
  const { store, deleteImage } = parts;
  return [
    {
      name: 'svc image list',
      description: 'List images, newest first.',
      flags: {
        search: { type: 'string', description: 'part of the prompt' },
        limit: { type: 'integer', minimum: 1, maximum: 1000, default: 50 },
        before: { type: 'integer', description: 'images older than this id' },
      },
      run: async ({ flags }) => {
        const { search, limit, before } = flags as {
          readonly search?: string;
          readonly limit: number;
          readonly before?: number;
        };
        return (await store.list({ search }, { limit, before })).map(imageRecord);
      },
    },
    {
      name: 'svc image get',
      description: 'Print an image of the history.',
      args: [{ name: 'id', description: 'Id of the image, see svc image list.' }],
      run: async ({ args: [id = ''] }) => imageRecord(await find(parts, id)),
    },
    {
      name: 'svc image delete',
      description: 'Delete an image and its file.',
      args: [{ name: 'id', description: 'Id of the image, see svc image list.' }],
      run: async ({ args: [id = ''] }) => {
        const image = await find(parts, id);
        await deleteImage(image);
        return { id: image.id, deleted: true };
      },
    },
  ];
}

function publicCommands(parts: Images): CliCommand[] {
  const { visitorSettings } = parts;
  return [
    {
      name: 'svc image public',
      description: 'Turn [svc_images] for visitors on or off, and print its settings.',
      args: [{ name: 'switch', description: 'on or off. Omit it to print the settings.', optional: true }],
      flags: jsonFlag(
        'Settings to change: {"models": ["openai:gpt-image-1"], "sizes": ["1024x1024"], "guest_per_day": 3, ...}',
      ),
      run: async ({ args: [value], flags }) => {
        if (value !== undefined && value !== 'on' && value !== 'off') throw new Error('Write on or off.');
        const changes = {
          ...(typeof flags['json'] === 'object' && flags['json']),
          ...(value !== undefined && { enabled: value === 'on' }),
        };
        return Object.keys(changes).length === 0 ? visitorSettings.get() : visitorSettings.update(changes);
      },
    },
  ];
}

async function find(parts: Images, id: string): Promise<StoredImage> {
  const image = await parts.store.get(parseId(id));
  if (image === null) throw new Error(`No image has the id ${id}. See svc image list.`);
  return image;
}

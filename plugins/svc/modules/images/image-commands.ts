import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { CliCommand } from '#plugin-api';
import type { ServiceContext } from '../../wiring.ts';
import { readJob, type JobFields } from './draw/read-job.ts';
import { sourceOfImage, sourceOfMedia } from './draw/read-source.ts';
import { imageRecord } from './image-record.ts';
import { imagesOf } from './images-of.ts';
import { visitorImagesOf } from './public/visitors-of.ts';
import type { JobSource } from './draw/image-job.ts';
import type { StoredImage } from './store/image.ts';

const jsonFlag = (description: string) => ({ json: { type: 'object', description } }) as const;

/** `svc image generate|edit|list|get|delete|public`. */
export function imageCommands(context: ServiceContext): CliCommand[] {
  return [...drawingCommands(context), ...historyCommands(context), ...publicCommands(context)];
}

function drawingCommands(context: ServiceContext): CliCommand[] {
  const { drawing } = imagesOf(context);
  const draw = async (fields: JobFields, source?: JobSource) => {
    const { images, message, cost } = await drawing.draw(
      readJob({ provider: 'openai', ...fields }, { request: randomUUID(), userId: 0, source }),
    );
    return { message, cost: cost === null ? null : cost / 1_000_000, images: images.map(imageRecord) };
  };
  return [
    {
      name: 'svc image generate',
      description: 'Have images drawn and kept in the media library; prints them.',
      flags: jsonFlag('{"prompt", "provider"?, "model"?, "n"?, "size"?, "quality"?, "style"?}'),
      run: async ({ flags }) => draw(fieldsOf(flags, '{"prompt": "A lighthouse", "provider": "openai"}')),
    },
    {
      name: 'svc image edit',
      description: 'Have a new version of an image made; prints it.',
      flags: jsonFlag(
        'As for generate, and what is edited: "image" (id in the history), "media" (id in the media library) or "file", and perhaps "mask" (a file).',
      ),
      run: async ({ flags }) => {
        const fields = fieldsOf(flags, '{"image": 7, "prompt": "Make it night", "provider": "openai"}');
        return draw(fields, await sourceOf(context, fields));
      },
    },
  ];
}

async function sourceOf(context: ServiceContext, fields: JobFields): Promise<JobSource> {
  const mask = typeof fields['mask'] === 'string' ? { mask: await readFile(fields['mask']) } : {};
  if (fields['image'] !== undefined)
    return { ...(await sourceOfImage(context, await find(context, String(fields['image'])))), ...mask };
  if (fields['media'] !== undefined) return { ...(await sourceOfMedia(context, Number(fields['media']))), ...mask };
  if (typeof fields['file'] === 'string')
    return { image: await readFile(fields['file']), mediaId: null, parentId: null, ...mask };
  throw new Error('Name what is to be edited: "image", "media" or "file".');
}

function historyCommands(context: ServiceContext): CliCommand[] {
  const { store, deleteImage } = imagesOf(context);
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
          readonly limit?: number;
          readonly before?: number;
        };
        return (await store.list({ search }, { limit: limit ?? 50, before })).map(imageRecord);
      },
    },
    {
      name: 'svc image get',
      description: 'Print an image of the history.',
      args: [{ name: 'id', description: 'Its id, see svc image list.' }],
      run: async ({ args: [id = ''] }) => imageRecord(await find(context, id)),
    },
    {
      name: 'svc image delete',
      description: 'Delete an image, its file too.',
      args: [{ name: 'id', description: 'Its id, see svc image list.' }],
      run: async ({ args: [id = ''] }) => {
        const image = await find(context, id);
        await deleteImage(image);
        return { id: image.id, deleted: true };
      },
    },
  ];
}

function publicCommands(context: ServiceContext): CliCommand[] {
  const { settings } = visitorImagesOf(context);
  return [
    {
      name: 'svc image public',
      description: 'Let visitors have images drawn by [svc_images], or end it; prints the settings.',
      args: [{ name: 'switch', description: 'on or off; left out: only print.', optional: true }],
      flags: jsonFlag(
        'Settings to change: {"models": ["openai:gpt-image-1"], "sizes": ["1024x1024"], "guest_per_day": 3, ...}',
      ),
      run: async ({ args: [value], flags }) => {
        if (value !== undefined && value !== 'on' && value !== 'off') throw new Error('Write on or off.');
        const changes = {
          ...(typeof flags['json'] === 'object' && flags['json']),
          ...(value !== undefined && { enabled: value === 'on' }),
        };
        return Object.keys(changes).length === 0 ? settings.get() : settings.update(changes);
      },
    },
  ];
}

function fieldsOf({ json }: Readonly<Record<string, unknown>>, example: string): JobFields {
  if (typeof json === 'object' && json !== null) return json as JobFields;
  throw new Error(`Write what is wanted as JSON, for example: --json '${example}'`);
}

async function find(context: ServiceContext, id: string): Promise<StoredImage> {
  const image = /^[1-9]\d{0,8}$/.test(id) ? await imagesOf(context).store.get(Number(id)) : null;
  if (image === null) throw new Error(`There is no image with the id ${id}. See svc image list.`);
  return image;
}

import type { CliCommand } from '#plugin-api';
import { fieldsOf, imageRecord } from '../command-records.ts';
import { videoJob } from '../image-names.ts';
import type { Images } from '../images.ts';
import { readVideo } from './read-video.ts';
import type { VideoJob } from './video-jobs.ts';

/** `svc video generate|list`. */
export function videoCommands(parts: Images): CliCommand[] {
  const { host, videos, videoJobs, store } = parts;
  return [
    {
      name: 'svc video generate',
      description: 'Generate a video, which takes minutes, add it to the media library and print it.',
      flags: {
        json: { type: 'object', description: '{"prompt", "provider"?, "model"?, "size"?, "seconds"?}' },
      },
      run: async ({ flags }) => {
        const fields = fieldsOf(flags, '{"prompt": "Waves at dusk", "provider": "google"}');
        const { id } = await videos.add(readVideo(parts, { provider: 'google', ...fields }), 0);
        await host.jobs.drain(videoJob);
        const job = await videoJobs.get(id);
        if (job?.state === 'failed') throw new Error(job.message);
        return { id, state: job?.state, videos: (await store.ofRequest(id)).map(imageRecord) };
      },
    },
    {
      name: 'svc video list',
      description: 'List the requested videos, newest first.',
      run: async () => (await videoJobs.recent()).map(videoRecord),
    },
  ];
}

function videoRecord({ id, state, request, message, createdAt }: VideoJob): Readonly<Record<string, unknown>> {
  const { prompt, provider, model = '' } = request;
  return { id, state, prompt, provider, model, message, created_at: new Date(createdAt).toISOString() };
}

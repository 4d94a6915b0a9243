import type { Loaded } from '../../kit/lazy.ts';
import { createMinuteCounts, type RequestCounts } from '../../kit/rate-limit.ts';
import { createSessionTokens } from '../../kit/visitors/session-token.ts';
import { createSigner } from '../../kit/visitors/signer.ts';
import type { HostPort, ImagesPort, ProvidersPort, SettingsPort, UsagePort } from '../../ports.ts';
import { createImageGenerator, type ImageGenerator } from './generation/image-generator.ts';
import { createVisitorGeneration, createVisitorLimits, type VisitorGeneration } from './public/visitor-generation.ts';
import { createVisitorRequests, type VisitorRequests } from './public/visitor-requests.ts';
import { createVisitorSettings, type VisitorSettingsStore } from './public/visitor-settings.ts';
import { createPageNonces, type PageNonces } from '../../kit/visitors/page-nonces.ts';
import { createVisitors, type Visitors } from './public/visitor.ts';
import type { ImageStore } from './store/image.ts';
import { createDeleteImage, createImageStore, type DeleteImage } from './store/image-store.ts';
import { createPrivateImages, type PrivateImages } from './store/private-images.ts';
import { createVideoGenerator, type VideoGenerator } from './videos/video-generator.ts';
import { createVideoJobs, type VideoJobs } from './videos/video-jobs.ts';

export type ImagePorts = HostPort & ProvidersPort & SettingsPort & ImagesPort & UsagePort;

/** What the pages, routes, commands and the task of images share. One per process, loaded at its first use. */
export interface Images extends ImagePorts {
  readonly store: ImageStore;
  readonly generator: ImageGenerator;
  readonly deleteImage: DeleteImage;
  readonly privateImages: PrivateImages;
  readonly videoJobs: VideoJobs;
  readonly videos: VideoGenerator;
  readonly visitorSettings: VisitorSettingsStore;
  readonly visitors: Visitors;
  readonly requests: VisitorRequests;
  readonly visitorGeneration: VisitorGeneration;
  readonly formTokens: PageNonces;
  readonly requestCounts: RequestCounts;
}

export type ImageParts = Loaded<ImagePorts, Images>;

export type Provider = ProvidersPort['knownProviders'][number];

export function createImages(ports: ImagePorts): Images {
  const { host, generateImages, editImages } = ports;
  const store = createImageStore(host);
  const generator = createImageGenerator({ host, store, generateImages, editImages });
  const signer = createSigner({ host });
  const requests = createVisitorRequests(host);
  const visitorGeneration = createVisitorGeneration({
    host,
    requests,
    generator,
    limits: createVisitorLimits({ host, signer }),
  });
  const videoJobs = createVideoJobs(host);
  const videos = createVideoGenerator({ host, store, jobs: videoJobs, generateVideos: ports.generateVideos });
  return {
    ...ports,
    store,
    generator,
    requests,
    visitorGeneration,
    deleteImage: createDeleteImage({ host, store }),
    privateImages: createPrivateImages(host),
    videoJobs,
    videos,
    visitorSettings: createVisitorSettings({ host, providers: async () => ports.providers.all() }),
    visitors: createVisitors({ host, tokens: createSessionTokens({ signer, clock: host.clock }) }),
    // Long enough for pages from a cache.
    formTokens: createPageNonces({ signer, clock: host.clock, purpose: 'images-form', tick: 24 * 3600_000, ticks: 3 }),
    requestCounts: createMinuteCounts({ clock: host.clock }),
  };
}

import type { ServiceContext } from '../../wiring.ts';

/** A provider as the context hands it out. */
export type Provider = ServiceContext['knownProviders'][number];

type Drawing = NonNullable<Provider['images']>;

/** What a model takes besides the prompt. */
export type ImageFields = ReturnType<NonNullable<Drawing['takes']>>;

/** What an image must be for a model to edit it. */
export type ImageEditRules = NonNullable<ReturnType<NonNullable<Drawing['editing']>['accepts']>>;

/** Hourly job: deletes uncommitted images and what was stored long enough. */
export const imagesSweepHook = 'svc_images_sweep';

/** Job: makes images of visitors private that an earlier version stored as public media. */
export const privateImagesJob = 'make-images-private';

/** Job: generates the images of a visitor's request. */
export const visitorImageJob = 'visitor-image';

/** Job: generates a video. */
export const videoJob = 'video';

/** Option: the settings of images for visitors. */
export const publicImagesOption = 'svc_images_public';

export const imagesSlug = 'svc/images';
export const videoSlug = 'svc/images/video';
export const imageSlug = 'svc/images/image';
export const editImageSlug = 'svc/images/edit';
export const publicImagesSlug = 'svc/images/visitors';

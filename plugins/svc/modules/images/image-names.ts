/** Cron hook: deletes uncommitted images and releases abandoned requests of visitors. */
export const imagesSweepHook = 'svc_images_sweep';

/** Option: the settings of images for visitors. */
export const publicImagesOption = 'svc_images_public';

export const imagesSlug = 'svc/images';
export const imageSlug = 'svc/images/image';
export const editImageSlug = 'svc/images/edit';
export const publicImagesSlug = 'svc/images/visitors';

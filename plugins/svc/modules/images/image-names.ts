/** Deletes what was made for work that was never completed, and gives back what unfinished requests of visitors had taken. */
export const imagesSweepHook = 'svc_images_sweep';

/** Option: what visitors may have drawn. */
export const publicImagesOption = 'svc_images_public';

export const imagesSlug = 'svc/images';
export const imageSlug = 'svc/images/image';
export const editImageSlug = 'svc/images/edit';
export const publicImagesSlug = 'svc/images/visitors';

/** Looks every minute for texts of batches that nobody works on; alone enough to write them all. */
export const contentWorkHook = 'svc_content_work';
/** Forgets, daily, what was not begun and what is old. */
export const contentSweepHook = 'svc_content_sweep';
/** Tells all processes that a batch was begun. */
export const contentChannel = 'svc_content_work';

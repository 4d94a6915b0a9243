/** Slugs of the pages. */
export const botsSlug = 'svc/bots';
export const newBotSlug = 'svc/bots/new';
export const editSlug = 'svc/bots/edit';
export const rulesSlug = 'svc/bots/rules';
export const ruleSlug = 'svc/bots/rule';
export const formsSlug = 'svc/bots/forms';
export const formSlug = 'svc/bots/form';
export const logsSlug = 'svc/logs';
export const submissionsSlug = 'svc/submissions';
export const submissionSlug = 'svc/submission';

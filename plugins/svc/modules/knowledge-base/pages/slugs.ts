export const basesSlug = 'svc/knowledge';
export const baseSlug = 'svc/knowledge/base';
export const questionsSlug = 'svc/knowledge/questions';

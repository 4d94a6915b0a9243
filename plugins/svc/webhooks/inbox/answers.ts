/** How the inbox may answer, so that success, failures and retries are seen at work. */
export const answers = [
  { id: '200', label: '200: take it', help: 'Delivered at once.' },
  { id: '410', label: '410: refuse it', help: 'Failed at once: this status is not tried again.' },
  { id: '500', label: '500: fail', help: 'Tried three times: at once, after 0.25 and after 1 second.' },
  { id: 'slow', label: '200 after 3 seconds', help: 'Delivered, slowly: below the limit of 5 seconds.' },
  { id: 'hang', label: 'No answer', help: 'Each attempt ends after 5 seconds with a time-out.' },
] as const;

export type InboxAnswer = (typeof answers)[number]['id'];

export function isAnswer(value: string): value is InboxAnswer {
  return answers.some(({ id }) => id === value);
}

/** Built-in labels of the button and of what is beside it. */
export const buttonLabels = {
  open: 'Open chat',
  close: 'Close chat',
  dismiss: 'Close',
  error: 'Something went wrong.',
} as const;

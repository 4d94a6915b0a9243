/** The text in the language of the page, with its values. The admin's `texts.js` defines it before other scripts run. */
declare function __(text: string, values?: Readonly<Record<string, string | number>>): string;

import { choices, type FieldGroup, type Section } from './bot-section.ts';

const colors: FieldGroup = {
  title: 'Colors',
  fields: [
    {
      path: 'look.theme',
      type: 'select',
      label: 'Theme',
      options: choices(['auto', 'light', 'dark'], { auto: "The visitor's choice" }),
    },
    { path: 'look.primary_color', type: 'color', label: 'Main color' },
    { path: 'look.text_color', type: 'color', label: 'Text' },
    { path: 'look.background_color', type: 'color', label: 'Background' },
    { path: 'look.user_bubble_color', type: 'color', label: "Visitor's messages" },
    { path: 'look.bot_bubble_color', type: 'color', label: 'Answers' },
  ],
};

const shape: FieldGroup = {
  title: 'Shape',
  fields: [
    { path: 'look.size', type: 'select', label: 'Size', options: choices(['small', 'medium', 'large']) },
    { path: 'look.corner_radius', type: 'number', label: 'Corner radius (pixels)', min: 0, max: 32, short: true },
    { path: 'look.icon', type: 'select', label: 'Icon', options: choices(['chat', 'robot', 'spark', 'help', 'heart']) },
    {
      path: 'look.avatar_url',
      type: 'url',
      label: 'Picture instead of the icon',
      placeholder: 'https://',
      help: 'Its URL. Square pictures look best. The preview does not show pictures of other sites.',
    },
  ],
};

const behavior: FieldGroup = {
  title: 'Position',
  fields: [
    {
      path: 'look.mode',
      type: 'select',
      label: 'Shown as',
      options: choices(['popup', 'inline', 'page'], {
        popup: 'A button that opens a window',
        inline: 'Part of the page',
        page: 'The whole page',
      }),
    },
    {
      path: 'look.position',
      type: 'select',
      label: 'Corner of the button',
      options: choices(['bottom-right', 'bottom-left', 'top-right', 'top-left']),
    },
    {
      path: 'look.open_after',
      type: 'number',
      label: 'Open automatically after (seconds)',
      min: 0,
      max: 3_600,
      short: true,
      help: '0 = only on click',
    },
    {
      path: 'look.direction',
      type: 'select',
      label: 'Text direction',
      options: choices(['auto', 'ltr', 'rtl'], {
        auto: 'Same as the page',
        ltr: 'Left to right',
        rtl: 'Right to left (Arabic, Hebrew, Persian)',
      }),
    },
  ],
};

/** How the widget looks. */
export const lookSection: Section = {
  id: 'look',
  title: 'Look',
  help: 'The preview updates at once. Visitors see changes after you save.',
  groups: [colors, shape, behavior],
};

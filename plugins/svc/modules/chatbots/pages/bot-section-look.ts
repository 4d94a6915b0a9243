import { choices, type Section } from './bot-section.ts';

/** How the widget looks. */
export const lookSection: Section = {
  id: 'look',
  title: 'Look',
  help: 'The preview shows every change at once; visitors see it after saving.',
  groups: [
    {
      title: 'Colours',
      fields: [
        {
          path: 'look.theme',
          type: 'select',
          label: 'Theme',
          options: choices(['auto', 'light', 'dark'], { auto: "The visitor's choice" }),
        },
        { path: 'look.primary_color', type: 'colour', label: 'Main colour' },
        { path: 'look.text_color', type: 'colour', label: 'Text' },
        { path: 'look.background_color', type: 'colour', label: 'Background' },
        { path: 'look.user_bubble_color', type: 'colour', label: "Visitor's messages" },
        { path: 'look.bot_bubble_color', type: 'colour', label: 'Answers' },
      ],
    },
    {
      title: 'Shape',
      fields: [
        { path: 'look.size', type: 'select', label: 'Size', options: choices(['small', 'medium', 'large']) },
        { path: 'look.corner_radius', type: 'number', label: 'Round corners, in pixels', min: 0, max: 32, short: true },
        {
          path: 'look.icon',
          type: 'select',
          label: 'Icon',
          options: choices(['chat', 'robot', 'spark', 'help', 'heart']),
        },
        {
          path: 'look.avatar_url',
          type: 'url',
          label: 'Picture in place of the icon',
          placeholder: 'https://',
          help: 'Its address. Square ones look best. Pictures of other sites are not shown in this preview.',
        },
      ],
    },
    {
      title: 'Place',
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
          label: 'Opens by itself after, in seconds',
          min: 0,
          max: 3_600,
          short: true,
          help: '0: it waits for a click.',
        },
        {
          path: 'look.direction',
          type: 'select',
          label: 'Direction of writing',
          options: choices(['auto', 'ltr', 'rtl'], {
            auto: 'As the page',
            ltr: 'Left to right',
            rtl: 'Right to left (Arabic, Hebrew, Persian)',
          }),
        },
      ],
    },
  ],
};

import type { AdminPage } from '#plugin-api';

export interface ToolLine {
  readonly slug: string;
  readonly title: string;
  readonly text: string;
  readonly icon: string;
}

/** Where the tools of the site are found; the menu's entry above them. */
export function createToolsPage(tools: readonly ToolLine[]): AdminPage {
  return {
    slug: 'tools', title: 'Tools', menu: 'Tools', icon: 'flask', position: 90,
    render: () => Promise.resolve({ template: 'admin/pages/tools', data: { tools } }),
  };
}

import type { AdminPageBody } from '#plugin-api';

export interface ToolLine {
  readonly slug: string;
  readonly title: string;
  readonly text: string;
  readonly icon: string;
}

/** Where the tools of the site are found; the menu's entry above them. */
export function createToolsPage(tools: readonly ToolLine[]): AdminPageBody {
  return {
    render: () => Promise.resolve({ template: 'admin/pages/tools', data: { tools } }),
  };
}

import type { AdminPageBody } from '#plugin-api';

export interface ToolItem {
  readonly slug: string;
  readonly title: string;
  readonly text: string;
  readonly icon: string;
}

/** The overview of the tools, which the parent menu entry opens. */
export function createToolsPage(tools: readonly ToolItem[]): AdminPageBody {
  return {
    render: () => Promise.resolve({ template: 'admin/pages/tools', data: { tools } }),
  };
}

type Attribute = string | number | boolean | null | undefined | ((event: never) => unknown);
type Child = Node | string | null | undefined | false;

/** Creates an element. `on...` attributes are listeners, `true` is an empty attribute, `false` and null are left out. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, Attribute>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value as EventListener);
    else if (value !== false && value !== null && value !== undefined)
      element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(
    ...children.filter((child): child is Node | string => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/** Shows or hides an element and returns whether it is visible. */
export function show(element: HTMLElement, visible: boolean): boolean {
  if (element.hidden === visible) element.hidden = !visible;
  return visible;
}

/** Names operations by method and path, `getPostsById`, each one once. */
export function createOperationIds(): (method: string, template: string) => string {
  const used = new Set<string>();
  return (method, template) => {
    const parts = template.split(/[^\w{}]+/).filter((part) => part !== '');
    const name =
      method.toLowerCase() +
      (parts.map((part) => (part.includes('{') ? `By${words(part)}` : words(part))).join('') || 'Index');
    let found = name;
    for (let number = 2; used.has(found); number += 1) found = `${name}${number}`;
    used.add(found);
    return found;
  };
}

function words(part: string): string {
  return part
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

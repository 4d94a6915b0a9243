/** What a module's routes, pages and commands share: made when it is first asked for, and then kept with the context. */
export function partsOf<Context extends object, Parts>(
  create: (context: Context) => Parts,
): (context: Context) => Parts {
  const made = new WeakMap<Context, Parts>();
  return (context) => {
    const known = made.get(context);
    if (known !== undefined) return known;
    const parts = create(context);
    made.set(context, parts);
    return parts;
  };
}

import ts from 'typescript';

/** What a call passes for the parameters of the function it calls. Declarations are unique, so that calls can be nested. */
export type Bindings = ReadonlyMap<ts.Node, ts.Expression>;

export interface Evaluator {
  /** Every text the expression can be; null where it depends on something that is known at run time alone. */
  texts(expression: ts.Expression, bindings: Bindings): readonly string[] | null;
  /** Every text the expression can be, with `{name}` for what is known at run time alone. */
  messages(expression: ts.Expression, bindings: Bindings): readonly string[];
  numbers(expression: ts.Expression, bindings: Bindings): readonly number[];
  /** One set of bindings for each value of a name whose type is a union of literals, so that code and message agree. */
  choices(expression: ts.Expression, bindings: Bindings): readonly Bindings[];
  /** The function whose parameter decides the expression, or null. */
  parameterOwner(expression: ts.Expression, bindings: Bindings): ts.SignatureDeclaration | null;
  /** What the call passes for each parameter of the function, or null where it calls another function. */
  bind(call: ts.CallExpression, declaration: ts.SignatureDeclaration): Bindings | null;
}

/** Reads literals, constants, conditions, templates, and unions of literal types. */
export function createEvaluator(checker: ts.TypeChecker): Evaluator {
  const declarationOf = (name: ts.Identifier): ts.Declaration | undefined => {
    const isShorthand = ts.isShorthandPropertyAssignment(name.parent) && name.parent.name === name;
    const symbol = isShorthand
      ? checker.getShorthandAssignmentValueSymbol(name.parent)
      : checker.getSymbolAtLocation(name);
    if (symbol === undefined) return undefined;
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    return target.valueDeclaration;
  };

  /** The expression that gives a name its value: an argument, or the initializer of a constant. */
  const valueOf = (name: ts.Identifier, bindings: Bindings): ts.Expression | undefined => {
    const declaration = declarationOf(name);
    if (declaration === undefined) return undefined;
    if (bindings.has(declaration)) return bindings.get(declaration);
    const isConstant = ts.isVariableDeclaration(declaration) && ts.isIdentifier(declaration.name);
    return isConstant ? declaration.initializer : undefined;
  };

  const literalTypes = (expression: ts.Expression): readonly string[] | null => {
    const type = checker.getTypeAtLocation(expression);
    const members = type.isUnion() ? type.types : [type];
    const texts = members.flatMap((member) => (member.isStringLiteral() ? [member.value] : []));
    return texts.length > 0 && texts.length === members.length ? texts : null;
  };

  const objectOf = (expression: ts.Expression, bindings: Bindings): ts.ObjectLiteralExpression | null => {
    const inner = unwrap(expression);
    if (ts.isObjectLiteralExpression(inner)) return inner;
    const value = ts.isIdentifier(inner) ? valueOf(inner, bindings) : undefined;
    return value === undefined ? null : objectOf(value, bindings);
  };

  /** The members that an access such as `sentences[kind]` or `codes.missing` can read. */
  const membersRead = (
    access: ts.ElementAccessExpression | ts.PropertyAccessExpression,
    bindings: Bindings,
  ): readonly ts.Expression[] => {
    const values = (objectOf(access.expression, bindings)?.properties ?? []).flatMap((property) =>
      ts.isPropertyAssignment(property) ? [property] : [],
    );
    const wanted = ts.isPropertyAccessExpression(access)
      ? [access.name.text]
      : texts(access.argumentExpression, bindings);
    return values
      .filter(({ name }) => wanted === null || wanted.includes(name.getText()))
      .map(({ initializer }) => initializer);
  };

  const allTexts = (expressions: readonly ts.Expression[], bindings: Bindings): readonly string[] | null => {
    const found = expressions.map((expression) => texts(expression, bindings));
    return found.length === 0 || found.includes(null) ? null : found.flatMap((list) => list ?? []);
  };

  const texts = (expression: ts.Expression, bindings: Bindings): readonly string[] | null => {
    const node = unwrap(expression);
    if (ts.isStringLiteralLike(node)) return [node.text];
    if (ts.isTemplateExpression(node)) return templateTexts(node, (span) => texts(span, bindings));
    if (ts.isConditionalExpression(node)) return allTexts([node.whenTrue, node.whenFalse], bindings);
    if (ts.isElementAccessExpression(node) || ts.isPropertyAccessExpression(node)) {
      return allTexts(membersRead(node, bindings), bindings) ?? literalTypes(node);
    }
    if (!ts.isIdentifier(node)) return null;
    const value = valueOf(node, bindings);
    return (value === undefined ? null : texts(value, bindings)) ?? literalTypes(node);
  };

  const messages = (expression: ts.Expression, bindings: Bindings): readonly string[] => {
    const node = unwrap(expression);
    if (ts.isTemplateExpression(node)) {
      const plural = (span: ts.Expression): ts.Expression =>
        ts.isConditionalExpression(span) && ts.isStringLiteral(span.whenFalse) ? span.whenFalse : span;
      return templateTexts(node, (span) => texts(plural(span), bindings) ?? [`{${nameOf(span)}}`]) ?? [];
    }
    if (ts.isConditionalExpression(node)) {
      return [...messages(node.whenTrue, bindings), ...messages(node.whenFalse, bindings)];
    }
    const value = ts.isIdentifier(node) ? valueOf(node, bindings) : undefined;
    if (value !== undefined) return messages(value, bindings);
    if (ts.isElementAccessExpression(node)) {
      const read = membersRead(node, bindings);
      if (read.length > 0) return read.flatMap((member) => messages(member, bindings));
    }
    return texts(node, bindings) ?? [`{${nameOf(node)}}`];
  };

  const numbers = (expression: ts.Expression, bindings: Bindings): readonly number[] => {
    const node = unwrap(expression);
    if (ts.isNumericLiteral(node)) return [Number(node.text)];
    if (ts.isConditionalExpression(node)) {
      return [...numbers(node.whenTrue, bindings), ...numbers(node.whenFalse, bindings)];
    }
    const value = ts.isIdentifier(node) ? valueOf(node, bindings) : undefined;
    return value === undefined ? [] : numbers(value, bindings);
  };

  const namesIn = (expression: ts.Expression): readonly ts.Identifier[] => {
    const names: ts.Identifier[] = [];
    const collect = (node: ts.Node): void => {
      if (ts.isIdentifier(node)) names.push(node);
      else ts.forEachChild(node, collect);
    };
    if (!ts.isPropertyAccessExpression(expression)) collect(expression);
    return names;
  };

  const choices = (expression: ts.Expression, bindings: Bindings): readonly Bindings[] => {
    for (const name of namesIn(expression)) {
      const declaration = declarationOf(name);
      const isParameter = declaration !== undefined && ownerOf(declaration) !== null && !bindings.has(declaration);
      const types = isParameter ? literalTypes(name) : null;
      if (declaration === undefined || types === null) continue;
      return types.map((text) => new Map([...bindings, [declaration, ts.factory.createStringLiteral(text)]]));
    }
    return [bindings];
  };

  const parameterOwner = (expression: ts.Expression, bindings: Bindings): ts.SignatureDeclaration | null => {
    for (const name of namesIn(expression)) {
      const value = valueOf(name, bindings);
      const declaration = declarationOf(name);
      const owner = value === undefined ? ownerOf(declaration) : parameterOwner(value, bindings);
      if (owner !== null) return owner;
    }
    return null;
  };

  const bind = (call: ts.CallExpression, declaration: ts.SignatureDeclaration): Bindings | null => {
    if (checker.getResolvedSignature(call)?.declaration !== declaration) return null;
    const bindings = new Map<ts.Node, ts.Expression>();
    declaration.parameters.forEach((parameter, index) => {
      const value = call.arguments[index] ?? parameter.initializer;
      if (value === undefined) return;
      if (ts.isIdentifier(parameter.name)) bindings.set(parameter, value);
      else bindMembers(parameter.name, objectOf(value, new Map()), bindings);
    });
    return bindings;
  };

  return { texts, messages, numbers, choices, parameterOwner, bind };
}

function bindMembers(
  pattern: ts.BindingPattern,
  value: ts.ObjectLiteralExpression | null,
  bindings: Map<ts.Node, ts.Expression>,
): void {
  for (const element of pattern.elements) {
    if (ts.isOmittedExpression(element)) continue;
    const key = (element.propertyName ?? element.name).getText();
    const property = value?.properties.find(({ name }) => name?.getText() === key);
    if (property !== undefined && ts.isPropertyAssignment(property)) bindings.set(element, property.initializer);
    else if (property !== undefined && ts.isShorthandPropertyAssignment(property)) bindings.set(element, property.name);
    else if (element.initializer !== undefined) bindings.set(element, element.initializer);
  }
}

/** The function of a parameter, or of a member of a parameter. */
function ownerOf(declaration: ts.Node | undefined): ts.SignatureDeclaration | null {
  if (declaration === undefined) return null;
  if (ts.isParameter(declaration)) return declaration.parent;
  const isMember = ts.isBindingElement(declaration) || ts.isObjectBindingPattern(declaration);
  return isMember ? ownerOf(declaration.parent) : null;
}

/** Without parentheses and assertions. */
export function unwrap(expression: ts.Expression): ts.Expression {
  const isWrapper =
    ts.isParenthesizedExpression(expression) ||
    ts.isAsExpression(expression) ||
    ts.isSatisfiesExpression(expression) ||
    ts.isNonNullExpression(expression) ||
    ts.isAwaitExpression(expression);
  return isWrapper ? unwrap(expression.expression) : expression;
}

/** Every combination of what the spans can be; null where one of them is unknown. */
function templateTexts(
  { head, templateSpans }: ts.TemplateExpression,
  read: (span: ts.Expression) => readonly string[] | null,
): readonly string[] | null {
  let found: readonly string[] = [head.text];
  for (const { expression, literal } of templateSpans) {
    const middle = read(expression);
    if (middle === null) return null;
    found = found.flatMap((start) => middle.map((text) => start + text + literal.text));
  }
  return found;
}

/** A short name for what an expression holds: `{id}` for `String(id)`, `{names}` for `names.join(', ')`. */
function nameOf(expression: ts.Expression): string {
  const node = unwrap(expression);
  if (ts.isIdentifier(node)) return node.text;
  if (ts.isElementAccessExpression(node)) {
    const key = node.argumentExpression;
    return ts.isStringLiteralLike(key) ? key.text : nameOf(node.expression);
  }
  if (ts.isPropertyAccessExpression(node)) return node.name.text;
  if (ts.isCallExpression(node)) {
    const [first] = node.arguments;
    const isText = first === undefined || ts.isStringLiteralLike(first) || ts.isArrowFunction(first);
    if (!isText) return nameOf(first);
    return ts.isPropertyAccessExpression(node.expression)
      ? nameOf(node.expression.expression)
      : nameOf(node.expression);
  }
  if (ts.isConditionalExpression(node)) return nameOf(node.whenTrue);
  if (ts.isBinaryExpression(node)) return nameOf(node.left);
  if (ts.isStringLiteralLike(node)) return node.text;
  return 'value';
}

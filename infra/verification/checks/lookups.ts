/**
 * Checks, with the types, that server code looks up no arbitrary string in an ordinary object, which inherits properties:
 * `constructor`, sent by a client, finds a function. Checks a canary, too: if the check no longer reports each of its
 * look-ups, it fails instead of passing all code.
 */
import path from 'node:path';
import ts from 'typescript';
import { ROOT } from '../../installation/environment.ts';

const SERVER_CODE = /^(?:gateway|services\/[^/]+|shared\/(?!(?:sdk|testing)\/)[^/]+)\/src\//;
const CANARY = 'infra/verification/checks/lookup-canary.ts';
/** At the end of the lines of the canary that the check must report; it must report no other line. */
const LOOKUP = '// look-up';
const ADVICE = 'use a Map or ownProperty of @tocsin/runtime; give a key its literal type where it comes from';

const { config } = ts.readConfigFile(path.join(ROOT, 'tsconfig.json'), ts.sys.readFile) as { config: unknown };
const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
const files = fileNames
  .map((file) => path.relative(ROOT, file))
  .filter((file) => SERVER_CODE.test(file) || file === CANARY);
// To parse the comments takes time, and they have no types.
const host = { ...ts.createCompilerHost(options), jsDocParsingMode: ts.JSDocParsingMode.ParseNone };
const program = ts.createProgram(files, options, host);
const checker = program.getTypeChecker();
const INHERITED = Object.getOwnPropertyNames(Object.prototype).map((name) => checker.getStringLiteralType(name));

const typeOf = (node: ts.Node) => checker.getNonNullableType(checker.getTypeAtLocation(node));

/** Whether a key may be the name of an inherited property; `keyof` an object has the names of its own. */
function isArbitrary(key: ts.Node): boolean {
  const type = checker.getTypeAtLocation(key);
  if ((type.isIntersection() ? type.types : [type]).some(({ flags }) => (flags & ts.TypeFlags.Index) !== 0))
    return false;
  const constraint = checker.getBaseConstraintOfType(type) ?? type;
  return INHERITED.some((name) => checker.isTypeAssignableTo(name, constraint));
}

/** Whether the type of an object allows any name. The types of arrays and maps, for example, do not. */
const hasAnyName = (object: ts.Node): boolean =>
  checker.getIndexInfoOfType(checker.getApparentType(typeOf(object)), ts.IndexKind.String) !== undefined;

/** `Object.hasOwn(object, key) ? object[key] : …` */
function isGuarded(access: ts.ElementAccessExpression): boolean {
  const { parent, expression, argumentExpression } = access;
  const guard = `Object.hasOwn(${expression.getText()}, ${argumentExpression.getText()})`;
  return ts.isConditionalExpression(parent) && parent.whenTrue === access && parent.condition.getText() === guard;
}

/** `value as Key`; `Lowercase<Key>` has no other keys, and `never` is none. */
function assertsKey({ type, expression }: ts.AsExpression): boolean {
  // The compiler takes seconds for what is `const`.
  if (ts.isConstTypeReference(type)) return false;
  const key = typeOf(type);
  if ((key.flags & (ts.TypeFlags.StringMapping | ts.TypeFlags.Never)) !== 0) return false;
  return checker.isTypeAssignableTo(key, checker.getStringType()) && !isArbitrary(type) && isArbitrary(expression);
}

function isLookup(node: ts.Node): boolean {
  if (ts.isElementAccessExpression(node))
    return isArbitrary(node.argumentExpression) && hasAnyName(node.expression) && !isGuarded(node);
  if (ts.isBinaryExpression(node)) return node.operatorToken.kind === ts.SyntaxKind.InKeyword && isArbitrary(node.left);
  if (ts.isBindingElement(node)) {
    const { propertyName: name, parent } = node;
    return name !== undefined && ts.isComputedPropertyName(name) && isArbitrary(name.expression) && hasAnyName(parent);
  }
  return ts.isAsExpression(node) && assertsKey(node);
}

/** The numbers of the lines with look-ups. */
function lookupsIn(source: ts.SourceFile): Set<number> {
  const lines = new Set<number>();
  const visit = (node: ts.Node): void => {
    if (isLookup(node)) lines.add(source.getLineAndCharacterOfPosition(node.getStart()).line);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return lines;
}

const problems = files.flatMap((file) => {
  const source = program.getSourceFile(file);
  if (source === undefined) return `${file} cannot be read`;
  const lines = lookupsIn(source);
  return source.text.split('\n').flatMap((line, index) => {
    const isExpected = file === CANARY && line.endsWith(LOOKUP);
    if (lines.has(index) === isExpected) return [];
    return `${file}:${index + 1}: ${isExpected ? 'not reported' : ADVICE}: ${line.trim()}`;
  });
});
if (!files.includes(CANARY)) problems.push(`${CANARY} is missing`);
for (const problem of problems) console.error(problem);
console.log(`${files.length} files, ${problems.length} problems`);
if (problems.length > 0) process.exitCode = 1;

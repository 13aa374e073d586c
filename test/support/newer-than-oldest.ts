import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import bcd, {
  type CompatStatement,
  type Identifier,
  type SimpleSupportStatement,
} from '@mdn/browser-compat-data/forLegacyNode';
import ts from 'typescript';
import { oldestBrowsers } from '../../scripts/oldest-browsers.js';
import { PROJECT } from './project-copy.ts';

const BROWSERS: Readonly<Record<string, string>> = { ios_saf: 'safari_ios' };
const OLDEST = oldestBrowsers().map(({ name, version }) => ({ name: BROWSERS[name] ?? name, version }));

/** Something of the platform that one of the oldest browsers does not have. */
export interface Newer {
  /** As the compatibility data has it, such as api.HTMLElement.showPopover. */
  readonly path: string;
  /** Where it is used first. */
  readonly at: string;
}

const numbers = (version: string): number[] => version.replace('≤', '').split('.').map(Number);

function isAtMost(version: string, limit: string): boolean {
  const [left, right] = [numbers(version), numbers(limit)];
  const at = left.findIndex((part, index) => part !== (right[index] ?? 0));
  return at < 0 || (left[at] ?? 0) < (right[at] ?? 0);
}

function has(one: SimpleSupportStatement, version: string): boolean {
  if (one.flags !== undefined || one.prefix !== undefined || one.alternative_name !== undefined) return false;
  if (typeof one.version_added !== 'string' || one.version_added === 'preview') return false;
  const isGone = typeof one.version_removed === 'string' && isAtMost(one.version_removed, version);
  return !isGone && isAtMost(one.version_added, version);
}

/** Whether one of the oldest browsers lacks it. */
function isNewer(compat: CompatStatement | undefined): boolean {
  if (compat === undefined) return false;
  return OLDEST.some(({ name, version }) => {
    const support = compat.support[name as keyof typeof compat.support];
    return support !== undefined && ![support].flat().some((one) => has(one, version));
  });
}

function find(path: readonly string[]): Identifier | undefined {
  let node: unknown = bcd;
  for (const name of path) {
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, name)) return undefined;
    node = (node as Readonly<Record<string, unknown>>)[name];
  }
  return node as Identifier;
}

/** The first of these places that the data has. */
function firstOf(paths: readonly (readonly string[])[]): string | undefined {
  const path = paths.find((one) => find(one)?.__compat !== undefined);
  return path !== undefined && isNewer(find(path)?.__compat) ? path.join('.') : undefined;
}

const MIXED_IN = [
  'Window',
  'Element',
  'HTMLElement',
  'Document',
  'Node',
  'Response',
  'HTMLButtonElement',
  'Navigator',
];
const LISTENED_BY = [
  'Window',
  'Document',
  'HTMLElement',
  'Element',
  'EventSource',
  'WebSocket',
  'BroadcastChannel',
];

/** What a member of a type that the compiler knows is called in the data. */
function memberPath(container: string, member: string): string | undefined {
  const owner = container.replace(/^Readonly(?=Array|Map|Set)/, '').replace(/Constructor$/, '');
  const owners = [owner, ...MIXED_IN];
  return firstOf([
    ['javascript', 'builtins', owner, member],
    ['javascript', 'builtins', 'Intl', owner, member],
    ...owners.map((one) => ['api', one, member]),
    ['api', owner, `${member}_static`],
    ...(owner === 'Intl' ? [['javascript', 'builtins', 'Intl', member]] : []),
  ]);
}

function filesBelow(folder: string): string[] {
  return readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !name.endsWith('.d.ts'))
    .map((name) => join(PROJECT, folder, name));
}

/** All that the sources in these folders name of the platform. */
export function newerApis(folders: readonly string[]): readonly Newer[] {
  const options: ts.CompilerOptions = {
    ...{
      target: ts.ScriptTarget.ESNext,
      module: ts.ModuleKind.ESNext,
      jsx: ts.JsxEmit.ReactJSX,
      noEmit: true,
    },
    ...{
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      allowImportingTsExtensions: true,
      skipLibCheck: true,
    },
    ...{ lib: ['lib.esnext.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'], types: [], strict: true },
  };
  const program = ts.createProgram(folders.flatMap(filesBelow), options);
  const checker = program.getTypeChecker();
  const found = new Map<string, string>();
  const wanted = new Set(folders.flatMap(filesBelow));
  for (const file of program.getSourceFiles()) {
    if (!wanted.has(file.fileName)) continue;
    const note = (path: string | undefined, node: ts.Node): void => {
      if (path === undefined || found.has(path)) return;
      const { line } = file.getLineAndCharacterOfPosition(node.getStart());
      found.set(path, `${file.fileName.slice(PROJECT.length)}:${String(line + 1)}`);
    };
    const visit = (node: ts.Node): void => {
      for (const path of usedBy(node, checker, program)) note(path, node);
      ts.forEachChild(node, visit);
    };
    visit(file);
  }
  return [...found].map(([path, at]) => ({ path, at })).sort((a, b) => (a.path < b.path ? -1 : 1));
}

function usedBy(node: ts.Node, checker: ts.TypeChecker, program: ts.Program): (string | undefined)[] {
  if (ts.isIdentifier(node) && !isOfType(node)) return ofSymbol(node, checker, program);
  if (ts.isRegularExpressionLiteral(node)) return ofPattern(node.text);
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.InKeyword)
    return ts.isStringLiteral(node.left) ? [memberPath('', node.left.text)] : [];
  if (
    ts.isJsxAttribute(node) ||
    (ts.isPropertyAssignment(node) && ts.isJsxSpreadAttribute(node.parent.parent))
  ) {
    const tag = ts.findAncestor(node, ts.isJsxOpeningLikeElement)?.tagName.getText() ?? '';
    // Those of components are no attributes.
    return /^[a-z]/.test(tag) ? [attributePath(node.name.getText())] : [];
  }
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return [];
  const [argument] = node.arguments;
  if (argument === undefined || !ts.isStringLiteralLike(argument)) return [];
  const { text } = node.expression.name;
  if (text === 'addEventListener')
    return [firstOf(LISTENED_BY.map((one) => ['api', one, `${argument.text}_event`]))];
  return text === 'setAttribute' ? [attributePath(argument.text)] : [];
}

function attributePath(name: string): string | undefined {
  const attribute = name.toLowerCase();
  return firstOf([
    ['html', 'global_attributes', attribute],
    ...['button', 'input', 'img', 'dialog', 'details'].map((one) => ['html', 'elements', one, attribute]),
  ]);
}

function ofPattern(pattern: string): (string | undefined)[] {
  return [
    /\(\?<[=!]/.test(pattern)
      ? firstOf([['javascript', 'regular_expressions', 'lookbehind_assertion']])
      : undefined,
    /\/\w*v\w*$/.test(pattern) ? firstOf([['javascript', 'builtins', 'RegExp', 'unicodeSets']]) : undefined,
    /\(\?[ims-]+:/.test(pattern) ? firstOf([['javascript', 'regular_expressions', 'modifier']]) : undefined,
  ];
}

/** Types are gone when it runs. */
function isOfType(node: ts.Node): boolean {
  const ofType = (one: ts.Node): boolean =>
    ts.isTypeNode(one) || ts.isInterfaceDeclaration(one) || ts.isTypeAliasDeclaration(one);
  return ts.findAncestor(node, (one) => ofType(one) || ts.isImportDeclaration(one)) !== undefined;
}

function ofSymbol(node: ts.Identifier, checker: ts.TypeChecker, program: ts.Program): (string | undefined)[] {
  const symbol = checker.getSymbolAtLocation(node);
  return (symbol?.declarations ?? [])
    .filter((one) => program.isSourceFileDefaultLibrary(one.getSourceFile()))
    .map((one) => {
      if (ts.isInterfaceDeclaration(one.parent) || ts.isClassDeclaration(one.parent))
        return memberPath(one.parent.name?.text ?? '', node.text);
      if (ts.findAncestor(one, ts.isModuleBlock) !== undefined) return memberPath('Intl', node.text);
      return firstOf([
        ['api', node.text],
        ['javascript', 'builtins', node.text],
        ['api', 'Window', node.text],
      ]);
    });
}

/** A script for a page that takes away all of these, as if the browser had never had them. */
export function without(apis: readonly Newer[]): string {
  const [members, events, attributes]: [string[][], string[], string[]] = [[], [], []];
  for (const { path } of apis) {
    const parts = path.split('.');
    const name = parts.at(-1) ?? '';
    if (name.endsWith('_event')) events.push(name.slice(0, -6));
    else if (parts[0] === 'html') attributes.push(name);
    else
      members.push(
        parts.slice(parts[0] === 'javascript' ? 2 : 1).map((part) => part.replace(/_static$/, '')),
      );
  }
  return `(() => {
    for (const parts of ${JSON.stringify(members)}) {
      const name = parts.pop();
      const owner = parts.reduce((from, part) => from?.[part], globalThis);
      for (const one of [owner, owner?.prototype, Object.getPrototypeOf(owner ?? {})]) if (one != null && Object.hasOwn(one, name)) delete one[name];
    }
    const skip = (owner, method, names) => {
      const own = owner[method];
      owner[method] = function (name, ...rest) { if (!names.includes(name)) return own.call(this, name, ...rest); };
    };
    skip(EventTarget.prototype, 'addEventListener', ${JSON.stringify(events)});
    skip(Element.prototype, 'setAttribute', ${JSON.stringify(attributes)});
  })()`;
}

/** Names of functions and units of values, by the last part of their paths. */
const VALUES = new Map<string, CompatStatement>();
function collectValues(node: object, name: string): void {
  for (const [key, child] of Object.entries(node)) {
    if (key === '__compat') {
      if (!VALUES.has(name)) VALUES.set(name, child as CompatStatement);
    } else collectValues(child as object, key);
  }
}
collectValues(bcd.css['types'] ?? {}, '');

/**
 * A stylesheet as the oldest browsers read it: what they do not know is called something that no browser knows.
 * @returns it, and what that was
 */
export function asOldestRead(css: string): { readonly css: string; readonly newer: readonly string[] } {
  const newer = new Set<string>();
  const strange = (text: string, compat: CompatStatement | undefined, name: string, to: string): string => {
    if (!isNewer(compat)) return text;
    newer.add(name);
    return to;
  };
  const property = (name: string): Identifier | undefined => find(['css', 'properties', name]);
  const read = css
    .replaceAll(/\/\*[^]*?\*\//g, '')
    .replaceAll(/(?<=[{;]\s*)([a-z-]+):\s*([^;{}]+)(?=[;}])/g, (text, name: string, value: string) => {
      const keyword = property(name)?.[value.trim()]?.__compat;
      const isStrange = isNewer(property(name)?.__compat)
        ? name
        : isNewer(keyword)
          ? `${name}: ${value}`
          : null;
      if (isStrange === null) return text;
      newer.add(isStrange);
      return `no-${name}: ${value}`;
    })
    .replaceAll(/(?<![\w-])([a-z][a-z-]*)\(/g, (text, name: string) =>
      strange(text, VALUES.get(name), `${name}()`, `no-${name}(`),
    )
    .replaceAll(/[^{};]+(?=\{)/g, (selector) =>
      selector.replaceAll(/(?<!:):([a-z-]+)/g, (text, name: string) =>
        strange(text, find(['css', 'selectors', name])?.__compat, `:${name}`, `:no-${name}`),
      ),
    )
    .replaceAll(/@([a-z-]+)/g, (text, name: string) =>
      strange(text, find(['css', 'at-rules', name])?.__compat, `@${name}`, `@no-${name}`),
    );
  return { css: read, newer: [...newer].sort() };
}

/** Of a folder that is built. */
export function stylesBelow(folder: string): string[] {
  return readdirSync(join(PROJECT, folder))
    .filter((name) => name.endsWith('.css'))
    .map((name) => readFileSync(join(PROJECT, folder, name), 'utf8'));
}

/**
 * Measures the house: `node scripts/house.js [commit]` prints the size of src/ and of its rooms in a commit, or in the
 * work tree without one. Exits with 1 if the work tree exceeds a limit.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import ts from 'typescript';

const [commit] = process.argv.slice(2);
const files = filesOf('src/').map(([path, text]) => measure(path, text));
if (files.length === 0) throw new Error(`No src/*.ts in ${commit ?? 'the work tree'}`);

/** What a server can do without. */
const parts = filesOf('parts/')
  .filter(([path]) => !/^parts\/[^/]+\/(?:test|measure)\//.test(path))
  .map(([path, text]) => measure(path, text));

const sum = (values) => values.reduce((total, value) => total + value, 0);
const longest = (things) => things.reduce((one, other) => (other.lines > one.lines ? other : one));
const byLines = files.map(({ lines }) => lines).sort((one, other) => one - other);
const lines = sum(byLines);
const types = files.flatMap((file) => file.types);
/** Imports between files of the server and its parts: `isValue` if more than types are imported. */
const imports = [...files, ...parts].flatMap((file) => file.imports);
const say = ({ name, lines: count }) => `${count} lines, ${name}`;
/** With these a part declares what it has of settings, metrics and log lines, as with the type of a part. */
const DECLARES = /^src\/(?:config\/(?:kinds|part-settings|settings)|telemetry\/(?:events|metrics))\.ts$/;
/** What files import of the server, beside what they declare with. */
function coreNames(some) {
  return new Set(
    some.flatMap((file) =>
      file.imports.flatMap(({ to, names }) =>
        to.startsWith('src/') && !DECLARES.test(to) ? names.map((name) => `${to} ${name}`) : [],
      ),
    ),
  );
}
const rows = {
  'files of src': files.length,
  'lines of src': lines,
  'median file': `${byLines[byLines.length >> 1]} lines`,
  'longest file': say(longest(files)),
  'longest function': say(longest(files.flatMap((file) => file.functions))),
  'functions over 60': sum(files.map((file) => file.functions.filter(({ own }) => own > 60).length)),
  comments: `${((100 * sum(files.map((file) => file.comments))) / lines).toFixed(1)} % of lines`,
  '*Dependencies types': types.filter((name) => name.endsWith('Dependencies')).length,
  '*Parts types': types.filter((name) => name.endsWith('Parts')).length,
  'Pick<': sum(files.map((file) => file.picks)),
  'imports between rooms': sum(files.map((file) => file.arrows.length)),
  'arrows between rooms': new Set(files.flatMap((file) => file.arrows)).size,
  // Of what is imported as a value, also when it is loaded later.
  'rooms in circles': inCircles(imports.filter(({ isValue }) => isValue).map(between(homeOf))),
  'features in circles': inCircles(
    imports
      .filter(({ isValue, from, to }) => isValue && [from, to].every((path) => featureOf(path) !== null))
      .map(between(featureOf)),
  ),
  'files in circles': inCircles(imports.map(between((path) => path))),
  'names of src in parts': coreNames(parts).size,
  'most names in one part': Math.max(
    ...[...new Set(parts.map(({ name }) => homeOf(name)))].map(
      (part) => coreNames(parts.filter(({ name }) => homeOf(name) === part)).size,
    ),
  ),
  'state of modules': files.concat(parts).reduce((total, { state }) => total + state.length, 0),
  ...Object.fromEntries(
    ['bookmark', 'snooz', 'tenant'].map((word) => [
      `files with "${word}"`,
      files.filter(({ text }) => text.toLowerCase().includes(word)).length,
    ]),
  ),
  'lines of bench': sum(filesOf('bench/').map(([, text]) => linesOf(text))),
};
/**
 * No more than this may be on main; a change that goes below a limit lowers it. Lines and files are only reported: a feature costs as many
 * as it needs.
 */
const LIMITS = {
  '*Dependencies types': 5,
  // Without the lines of the functions in them.
  'functions over 60': 0,
  // What a process has once: docs/architecture.md gives the reasons.
  'state of modules': 15,
  'rooms in circles': 0,
  'features in circles': 0,
  'files in circles': 0,
  // What a part knows of the server: docs/architecture.md says why these are not fewer.
  'most names in one part': 179,
  // What a feature is called, where its own folder or row is not meant.
  'files with "bookmark"': 1,
  'files with "snooz"': 5,
  'files with "tenant"': 40,
};
for (const [name, value] of Object.entries(rows)) {
  const limit = LIMITS[name];
  const isOver = limit !== undefined && value > limit;
  if (isOver && commit === undefined) process.exitCode = 1;
  console.log(
    `${name.padEnd(22)} ${value}${limit === undefined ? '' : ` (limit ${limit})`}${isOver ? '  TOO MANY' : ''}`,
  );
}
console.log('\nstate of modules');
for (const { name, state } of [...files, ...parts])
  if (state.length > 0) console.log(`${name}: ${state.join(', ')}`);
console.log('\nroom: files, lines');
for (const room of [...new Set(files.map((file) => file.room))].sort()) {
  const own = files.filter((file) => file.room === room);
  console.log(`${room.padEnd(22)} ${own.length}, ${sum(own.map((file) => file.lines))}`);
}

/** Path and text of each source file below a folder. */
function filesOf(folder) {
  const list = commit === undefined ? ['ls-files'] : ['ls-tree', '-r', '--name-only', commit];
  const paths = git([...list, '--', folder])
    .toString()
    .split('\n')
    .filter((path) => /\.tsx?$/.test(path));
  if (commit === undefined)
    return paths.filter((path) => existsSync(path)).map((path) => [path, readFileSync(path, 'utf8')]);
  const blobs = git(['cat-file', '--batch'], paths.map((path) => `${commit}:${path}\n`).join(''));
  let at = 0;
  return paths.map((path) => {
    // "<id> blob <bytes>", the bytes, a line break.
    const start = blobs.indexOf('\n', at) + 1;
    const end = start + Number(blobs.toString('utf8', at, start).split(' ')[2]);
    at = end + 1;
    return [path, blobs.toString('utf8', start, end)];
  });
}

/**
 * A module's own variable that something may change: declared with `let`, or an object that is not declared as read-only. A WeakMap
 * is none: it adds a field to objects of others, and is gone with them.
 */
function stateOf(statement, source) {
  if (!ts.isVariableStatement(statement)) return [];
  const { declarations, flags } = statement.declarationList;
  const isState = ({ type, initializer }) => {
    if ((flags & ts.NodeFlags.Const) === 0) return true;
    let value = initializer;
    while (value !== undefined && (ts.isAsExpression(value) || ts.isSatisfiesExpression(value)))
      value = value.expression;
    const declared = type?.getText(source) ?? '';
    if (value === undefined || (declared !== '' && !/^(?:Weak)?(?:Map|Set)\b|^LRUCache/.test(declared)))
      return false;
    if (ts.isArrayLiteralExpression(value)) return value.elements.length === 0;
    return (
      ts.isNewExpression(value) &&
      !/^(?:Date|RegExp|URL|WeakMap|Intl\.\w+|Text\w+coder)$/.test(value.expression.getText(source))
    );
  };
  return declarations.filter(isState).map(({ name }) => name.getText(source));
}

function git(args, input) {
  const { status, stdout, stderr } = spawnSync('git', args, { input, maxBuffer: 1e9 });
  if (status !== 0) throw new Error(`git ${args[0]}: ${stderr}`);
  return stdout;
}

function linesOf(text) {
  return text.split('\n').length - 1;
}

/** A room of src/, or a part. */
function homeOf(path) {
  return path.startsWith('src/') ? roomOf(path) : path.split('/').slice(0, 2).join('/');
}

/** `null`: not of a feature. */
function featureOf(path) {
  return /^src\/features\/([^/]+)\//.exec(path)?.[1] ?? (path.startsWith('parts/') ? homeOf(path) : null);
}

function between(nameOf) {
  return ({ from, to }) => [nameOf(from), nameOf(to)];
}

/** How many of the names are connected in both directions with another one: Tarjan's algorithm. */
function inCircles(arrows) {
  const next = new Map();
  for (const [from, to] of arrows) {
    if (!next.has(from)) next.set(from, new Set());
    if (from !== to) next.get(from).add(to);
  }
  const found = new Map();
  const stack = [];
  let count = 0;
  const visit = (name) => {
    const state = { index: found.size, low: found.size, isOpen: true };
    found.set(name, state);
    stack.push(name);
    for (const other of next.get(name) ?? []) {
      const seen = found.get(other);
      if (seen === undefined) state.low = Math.min(state.low, visit(other).low);
      else if (seen.isOpen) state.low = Math.min(state.low, seen.index);
    }
    if (state.low === state.index) {
      const circle = stack.splice(stack.indexOf(name));
      for (const one of circle) found.get(one).isOpen = false;
      if (circle.length > 1) count += circle.length;
    }
    return state;
  };
  for (const name of next.keys()) if (!found.has(name)) visit(name);
  return count;
}

/** The first folder below src/, or the file that stands there alone. */
function roomOf(path) {
  return path.split('/')[1].replace(/\.[jt]s$/, '');
}

/** An import or export of nothing but types. */
function isOfTypes(node) {
  if (ts.isExportDeclaration(node)) return node.isTypeOnly;
  const { isTypeOnly = false, name, namedBindings } = node.importClause ?? {};
  const named =
    namedBindings !== undefined && ts.isNamedImports(namedBindings) ? namedBindings.elements : null;
  return (
    isTypeOnly ||
    (name === undefined && named !== null && named.length > 0 && named.every((element) => element.isTypeOnly))
  );
}

/** What it imports or exports by name, or `*`. */
function namesOf(node) {
  const named = ts.isExportDeclaration(node) ? node.exportClause : node.importClause?.namedBindings;
  if (named?.elements === undefined) return ['*'];
  return named.elements.map(({ propertyName, name }) => (propertyName ?? name).text);
}

function measure(path, text) {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lineAt = (position) => source.getLineAndCharacterOfPosition(position).line;
  const found = {
    ...{ name: path, room: roomOf(path), text },
    lines: linesOf(text),
    functions: [],
    types: [],
    arrows: [],
    imports: [],
    state: source.statements.flatMap((statement) => stateOf(statement, source)),
  };
  const linesOfNode = (node) => lineAt(node.end) - lineAt(node.getStart(source)) + 1;
  /** Of functions in a node, without their first lines. */
  const inner = (node) => {
    let total = 0;
    ts.forEachChild(node, (child) => {
      total += ts.isFunctionLike(child) && child.body !== undefined ? linesOfNode(child) - 1 : inner(child);
    });
    return total;
  };
  const addImport = (from, isValue, names) => {
    if (from.startsWith('.'))
      found.imports.push({ from: path, to: posix.join(posix.dirname(path), from), isValue, names });
  };
  const commented = new Set();
  let picks = 0;
  const visit = (node) => {
    for (const { pos, end } of ts.getLeadingCommentRanges(text, node.pos) ?? [])
      for (let line = lineAt(pos); line <= lineAt(end); line++) commented.add(line);
    if (ts.isFunctionLike(node) && node.body !== undefined) {
      const name = node.name?.getText(source) ?? 'a function without a name';
      const lines = linesOfNode(node);
      const own = ts.isBlock(node.body) ? lines - inner(node.body) : 1;
      found.functions.push({ name: `${name} in ${path}`, lines, own });
    }
    if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node))
      if (/(?:Dependencies|Parts)$/.test(node.name.text)) found.types.push(node.name.text);
    if (ts.isTypeReferenceNode(node) && node.typeName.getText(source) === 'Pick') picks += 1;
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
      const from = node.moduleSpecifier?.text ?? '';
      const room = roomOf(posix.join(posix.dirname(path), from));
      if (from.startsWith('.') && room !== found.room) found.arrows.push(`${found.room} → ${room}`);
      addImport(from, !isOfTypes(node), namesOf(node));
    }
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      addImport(node.arguments[0]?.text ?? '', true, ['*']);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { ...found, picks, comments: commented.size };
}

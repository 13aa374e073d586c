import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

/** What a module needs when it is loaded; not what it imports on demand, and not types. */
function importsOf(file: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);
  return source.statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return [];
    const bindings = ts.isImportDeclaration(statement)
      ? statement.importClause?.namedBindings
      : statement.exportClause;
    const names =
      bindings !== undefined && (ts.isNamedImports(bindings) || ts.isNamedExports(bindings))
        ? bindings.elements
        : null;
    const isOfTypes =
      (ts.isImportDeclaration(statement)
        ? statement.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
        : statement.isTypeOnly) ||
      (names !== null && names.length > 0 && names.every(({ isTypeOnly }) => isTypeOnly));
    const from = statement.moduleSpecifier;
    return isOfTypes || from === undefined || !ts.isStringLiteral(from) ? [] : [from.text];
  });
}

test('a worker loads neither GraphQL nor the server of its metrics unless it serves them', () => {
  const reached = new Map<string, string>();
  const visit = (file: string): void => {
    for (const from of importsOf(file)) {
      const path = from.startsWith('.') ? join(dirname(file), from) : from;
      if (reached.has(path)) continue;
      reached.set(path, file);
      if (path.endsWith('.ts')) visit(path);
    }
  };
  visit('src/cli/worker.ts');
  visit('src/main.ts');
  expect(reached.has('mongodb')).toBe(true);
  const ways = [...reached].filter(
    ([path]) => /^(?:graphql|@pothos|graphql-yoga)/.test(path) || path === 'src/http/server.ts',
  );
  expect(ways).toEqual([]);
});

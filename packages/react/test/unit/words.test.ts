import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { german } from '../../src/german.ts';
import { english } from '../../src/more-words.ts';

const PARTS = fileURLToPath(new URL('../../src/parts/', import.meta.url));
/** Beside the children, what a reader sees or hears. */
const SAID = /^(?:aria-(?:label|description|roledescription|valuetext)|alt|label|placeholder|title)$/;
/** Words, as opposed to names of keys, attributes and selectors. */
const SENTENCE = /\p{L}\p{Ll}+[ …]\p{L}|^\p{Lu}\p{Ll}+$/u;
const KEYS = new Set(['Enter', 'Escape', 'Home', 'End', 'Tab']);

/** Texts that a file says on its own. */
function said(code: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    // For developers: what is thrown, and what is asked of the page.
    if (ts.isNewExpression(node) || ts.isImportDeclaration(node)) return;
    if (ts.isCallExpression(node) && /querySelector|matches|closest/.test(node.expression.getText())) return;
    if (ts.isJsxAttribute(node) && !SAID.test(node.name.getText()) && node.initializer !== undefined)
      if (ts.isStringLiteral(node.initializer)) return;
    if (ts.isJsxText(node) && /\p{L}/u.test(node.text)) found.push(node.text.trim());
    if (ts.isStringLiteralLike(node)) {
      const isSaid = ts.isJsxAttribute(node.parent) && node.text !== '';
      if (isSaid || (SENTENCE.test(node.text) && !KEYS.has(node.text))) found.push(node.text);
    }
    if (ts.isTemplateExpression(node))
      for (const { literal } of node.templateSpans)
        if (/[ ,]\p{L}/u.test(literal.text)) found.push(literal.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('part.tsx', code, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX));
  return found;
}

test.each(readdirSync(PARTS))('%s says nothing but what `words` can replace', (file) => {
  expect(said(readFileSync(`${PARTS}${file}`, 'utf8'))).toEqual([]);
});

test.each([
  '<p>Hello</p>',
  '<input placeholder="name" />',
  "const label = 'Mark all as read';",
  "const label = 'Undo';",
  '<i aria-label={`${n} unread`} />',
])('words are found in %s', (code) => {
  expect(said(code)).toHaveLength(1);
});

test('German has other words for each', () => {
  const textsOf = (words: object): [string, string][] =>
    Object.entries(words).flatMap(([name, value]: [string, unknown]) => {
      if (typeof value === 'object' && value !== null) return textsOf(value);
      return [
        [
          name,
          typeof value === 'function'
            ? String((value as (...of: unknown[]) => unknown)(2, 2))
            : String(value),
        ],
      ];
    });
  const known = new Map(textsOf(english));
  expect(textsOf(german).filter(([name, text]) => known.get(name) === text)).toEqual([]);
});

/**
 * ESLint rule: words of an older dialect of this project that do not come back, and what to write instead. It looks at
 * comments, strings, names and the text of elements in code, and at the text of Markdown.
 */
const INSTEAD = new Map(
  Object.entries({
    anew: 'again, or rebuild, rewrite, recompute',
    whoever: 'anyone who, or name who it is',
    'those who': 'readers who, members who, callers that',
    foretaste: 'optimistic',
    'nobody thinks': 'say what does not happen',
    'comes to lie': 'is set to',
    'come to lie': 'are set to',
    'by itself': 'on its own, alone, or leave it out',
    'by themselves': 'on their own, or leave it out',
    'is told': 'is notified, is sent, is announced',
    'are told': 'are notified, are sent, are announced',
    'been told': 'been notified',
    'is held': 'is stored, is owned',
    'are held': 'are stored, are owned',
    'passed by': 'skipped',
    'for now': 'say until when',
  }),
);
/** Parts of names, in camel case. */
const NAMES = new Map(
  Object.entries({
    anew: 'again',
    bury: 'tombstone',
    heldInVain: 'orphanedEntries',
    lift: 'boost',
    passBy: 'skipDormant',
    placing: 'resolveEntries',
    standing: 'membership',
    told: 'notified',
    victim: 'evicted',
  }),
);

/** Fields of what is stored keep their names. */
const STORED = new Set(['toldAudience']);

const GAP = String.raw`\s+(?:(?:\*|//)\s+)?`;
const phrases = new RegExp(String.raw`\b(?:${[...INSTEAD.keys()].join('|').replaceAll(' ', GAP)})\b`, 'gi');
const nameParts = new RegExp(
  [...NAMES.keys()]
    .flatMap((name) => [String.raw`(?<![a-z])${name}(?![a-z])`, capital(name) + '(?![a-z])'])
    .join('|'),
);

function capital(word) {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** The words in a text, each with what to write instead and where it is. */
export function* findWords(text) {
  for (const match of text.matchAll(phrases)) {
    const word = match[0].replaceAll(new RegExp(GAP, 'g'), ' ').toLowerCase();
    yield { word, instead: INSTEAD.get(word), index: match.index, length: match[0].length };
  }
}

/** @type {import('eslint').Rule.RuleModule} */
export const plainWords = {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: { word: '"{{word}}" is not a word of this project. Write: {{instead}}.' },
  },
  create(context) {
    const { sourceCode } = context;
    const report = (text, start) => {
      for (const { word, instead, index, length } of findWords(text))
        context.report({
          loc: {
            start: sourceCode.getLocFromIndex(start + index),
            end: sourceCode.getLocFromIndex(start + index + length),
          },
          messageId: 'word',
          data: { word, instead },
        });
    };
    // Markdown: the text between code.
    if (sourceCode.ast.type === 'root')
      return { text: (node) => report(node.value, node.position.start.offset) };
    return {
      Program: () => sourceCode.getAllComments().forEach(({ value, range }) => report(value, range[0] + 2)),
      Literal: (node) => (typeof node.value === 'string' ? report(node.raw, node.range[0]) : undefined),
      JSXText: (node) => report(node.raw, node.range[0]),
      TemplateElement: (node) => report(node.value.raw, node.range[0] + 1),
      Identifier(node) {
        const [part] = nameParts.exec(node.name) ?? [];
        if (part === undefined || STORED.has(node.name)) return;
        const name = part.charAt(0).toLowerCase() + part.slice(1);
        context.report({ node, messageId: 'word', data: { word: node.name, instead: NAMES.get(name) } });
      },
    };
  },
};

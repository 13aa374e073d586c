// Commands that a page shows: in blocks of the shell, and alone as code within a sentence.

const FENCE = /^( *)```(\w*)[^\n]*\n([^]*?)^\1```$/gm;
const INLINE = /`([^`\n]+)`/g;
/** What else stands as code is a name. */
const PROGRAM =
  /^(?:[A-Z_]+=\S+ )*(?:\.ci\/run|cp|docker|fanfare|git|kubectl|node|npm|npx|openssl|patch|pg_\w+|psql)\b(?![-./@]\w)/;

/** @param {string} text of a page @returns {{ language: string, code: string }[]} its blocks, in order */
export function blocksOf(text) {
  return [...text.matchAll(FENCE)].map(([, indent = '', language = '', code = '']) => ({
    language,
    code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }));
}

/** @param {string} code of the shell @returns {string[]} a command each, without comments, each on one line */
export function commandsIn(code) {
  return code
    .replaceAll(/ *\\\n */g, ' ')
    .split('\n')
    .map((line) => line.replace(/(?:^|\s+)# .*$/, '').trim())
    .filter((line) => line !== '');
}

/** @param {string} text of a page @returns {string[]} */
export function shownCommands(text) {
  const inBlocks = blocksOf(text).flatMap(({ language, code }) => {
    if (language === 'sh') return commandsIn(code);
    // Without a language it may be what a command prints.
    return language === '' ? commandsIn(code).filter((line) => PROGRAM.test(line)) : [];
  });
  const inline = [...text.replaceAll(FENCE, '').matchAll(INLINE)].map(([, code = '']) => code);
  return [...new Set([...inBlocks, ...inline.filter((code) => PROGRAM.test(code) && code.includes(' '))])];
}

import type { Rule } from 'eslint';

export const plainWords: Rule.RuleModule;

interface FoundWord {
  word: string;
  instead: string | undefined;
  index: number;
  length: number;
}
export function findWords(text: string): Iterable<FoundWord>;

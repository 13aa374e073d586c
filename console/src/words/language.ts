import type { Words as PartsWords } from '@fanfare/react';

/** What the console says, in another language than English. */
export interface Words {
  /** What the parts of `@fanfare/react` say on their own. */
  readonly parts: PartsWords;
  /** By the English text. Numbers are written as #. */
  readonly words: Readonly<Record<string, string>>;
  /** For texts with a name in them. What a group has found is said in the language, too. */
  readonly patterns: readonly (readonly [RegExp, string])[];
}

const KEY = 'fanfare:language';
const OTHERS: Readonly<Record<string, () => Promise<Words>>> = { de: () => import('./de.ts') };

let current: Words | null = null;

/** That was chosen, else the first one of the reader that the console has. */
export const language =
  localStorage.getItem(KEY) ??
  navigator.languages.map((one) => one.slice(0, 2)).find((one) => one === 'en' || one in OTHERS) ??
  'en';

/** Resolves when everything can be said in it. In English, where it cannot be loaded. */
export async function loadLanguage(): Promise<void> {
  const load = OTHERS[language];
  if (load === undefined) return;
  try {
    current = await load();
    document.documentElement.lang = language;
  } catch {
    // English is in the code.
  }
}

/** Everything is said again, so the page is loaded again. */
export function changeLanguage(): void {
  localStorage.setItem(KEY, language === 'de' ? 'en' : 'de');
  location.reload();
}

export const isEnglish = (): boolean => current === null;

const AS_THEY_ARE: Partial<PartsWords> = {};

/** The same object each time. */
export const wordsOfParts = (): Partial<PartsWords> => current?.parts ?? AS_THEY_ARE;

/** A text of the console in the language of the reader; any other text as it is. */
export function t(text: string): string {
  if (current === null) return text;
  const [, before = '', inner = '', after = ''] = /^(\s*)(.*?)(\s*)$/s.exec(text) ?? [];
  const numbers: string[] = [];
  const key = inner.replaceAll(/\d+(?:[.,]\d+)*/g, (number) => {
    numbers.push(number);
    return '#';
  });
  const said = current.words[key];
  if (said !== undefined) return before + said.replaceAll('#', () => numbers.shift() ?? '') + after;
  for (const [pattern, by] of current.patterns) {
    const found = pattern.exec(inner);
    if (found !== null) return before + by.replaceAll(/\$(\d)/g, (_, n) => t(found[Number(n)] ?? '')) + after;
  }
  return text;
}

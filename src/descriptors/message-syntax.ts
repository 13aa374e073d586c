import { IntlMessageFormat } from 'intl-messageformat';
import type { Locale } from './locale.ts';

export type Syntax = ReturnType<IntlMessageFormat['getAst']>;

/** Kinds of elements, as icu-messageformat-parser numbers them. */
export const LITERAL = 0;
export const ARGUMENT = 1;

/** @throws Error with the text, which the parser's own leaves out. */
export function messageOf(text: string, locale: Locale): IntlMessageFormat {
  try {
    return new IntlMessageFormat(text, locale);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${JSON.stringify(text)} is no ICU message: ${reason}`, { cause: error });
  }
}

/** Every argument of a message, those of its branches too. */
export function argumentsOf(syntax: Syntax): string[] {
  const names = new Set<string>();
  const walk = (elements: Syntax): void => {
    for (const element of elements) {
      const kind: number = element.type;
      if (kind !== LITERAL && 'value' in element) names.add(element.value);
      if ('options' in element) for (const option of Object.values(element.options)) walk(option.value);
      if ('children' in element) walk(element.children);
    }
  };
  walk(syntax);
  return [...names];
}

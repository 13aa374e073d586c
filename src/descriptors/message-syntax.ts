import { IntlMessageFormat } from 'intl-messageformat';
import type { Locale } from './locale.ts';

export type Syntax = ReturnType<IntlMessageFormat['getAst']>;

/** Element kinds as numbered by icu-messageformat-parser. */
export const LITERAL = 0;
export const ARGUMENT = 1;

/** @throws Error that quotes the message, which the parser's own error does not. */
export function messageOf(text: string, locale: Locale): IntlMessageFormat {
  try {
    return new IntlMessageFormat(text, locale);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${JSON.stringify(text)} is not a valid ICU message: ${reason}`, { cause: error });
  }
}

/** All arguments of a message, including those inside its branches. */
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

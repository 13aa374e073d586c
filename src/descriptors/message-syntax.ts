import type { IntlMessageFormat } from 'intl-messageformat';

export type Syntax = ReturnType<IntlMessageFormat['getAst']>;

/** Kinds of elements, as icu-messageformat-parser numbers them. */
export const LITERAL = 0;
export const ARGUMENT = 1;

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

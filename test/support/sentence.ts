import type { DescriptorType } from '../../src/descriptors/define.ts';
import type { Locale } from '../../src/descriptors/locale.ts';
import { ACTOR } from '../../src/descriptors/sentence.ts';

/** The sentence of a descriptor by the names that it holds; without one an id stands there, as `actor` for the actor's. */
export function sentenceOf(
  descriptor: DescriptorType,
  values: Readonly<Record<string, unknown>>,
  locale: Locale,
  actor = 'Ann',
): string {
  const nameOf = (argument: string): unknown => {
    const name = descriptor.namedFields.find(({ idField }) => idField === argument)?.name;
    return argument === ACTOR ? actor : name === undefined ? undefined : values[name];
  };
  const hasName = (argument: string): boolean => typeof nameOf(argument) === 'string';
  return descriptor.sentence
    .parts(locale, { fields: values, hasName })
    .map((part) => (typeof part === 'string' ? part : String(nameOf(part.id) ?? values[part.id])))
    .join('');
}

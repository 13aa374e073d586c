import type { StoredDescriptor } from '../domain/action.ts';
import type { ErasureSubject } from '../domain/erasure.ts';
import { FORMER_MEMBER } from '../domain/pseudonym.ts';
import { plainId } from '../domain/tenant.ts';
import type { DescriptorField } from './define.ts';
import { descriptorOfType } from './registry.ts';

/** What stands in place of free text that has to be there. */
const REMOVED = '[removed]';
/** Text that cannot be longer is a word such as a verb or a kind of thing, not something people write. */
const MAX_WORD_LENGTH = 64;

/**
 * Replaces the names of the subject in a text: the whole text where it is nothing but a name, and full names – of more
 * than one word – wherever they stand. A first name in the middle of a sentence is not told from any other word.
 */
export function withoutNames(text: string, { names }: Pick<ErasureSubject, 'names'>): string {
  if (names.includes(text)) return FORMER_MEMBER;
  return names
    .filter((name) => /\S\s+\S/u.test(name))
    .reduce((left, name) => left.replace(wholeWords(name), FORMER_MEMBER), text);
}

function wholeWords(name: string): RegExp {
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/gu, '\\$&');
  return new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, 'gu');
}

/** A descriptor that does not identify the subject any more. Of an action of their own, what they wrote goes too. */
export function anonymiseDescriptor(
  descriptor: StoredDescriptor,
  subject: ErasureSubject,
  isOwn: boolean,
): StoredDescriptor & { tags: string[] } {
  const { type, tags, ...values } = descriptor;
  const fields = descriptorOfType(type)?.fields ?? {};
  const kept = Object.entries(values).flatMap(([name, value]) => {
    const next = anonymiseValue(fields[name], value, values, subject, isOwn);
    return next === undefined ? [] : [[name, next] as const];
  });
  const namesSomebody = (tag: string): boolean =>
    tag === plainId(subject.memberId) || withoutNames(tag, subject) !== tag;
  return { type, tags: tags.filter((tag) => !namesSomebody(tag)), ...Object.fromEntries(kept) };
}

/** Undefined: the field goes. */
function anonymiseValue(
  field: DescriptorField | undefined,
  value: unknown,
  values: Readonly<Record<string, unknown>>,
  subject: ErasureSubject,
  isOwn: boolean,
): unknown {
  switch (field?.kind) {
    case 'id':
      return value === subject.memberId ? subject.pseudonym : value;
    case 'nameOf':
      if (values[field.idField] === subject.memberId) return FORMER_MEMBER;
      return typeof value === 'string' ? withoutNames(value, subject) : value;
    case 'text':
      if (isOwn && field.maxLength > MAX_WORD_LENGTH) return field.isOptional ? undefined : REMOVED;
      return typeof value === 'string' ? withoutNames(value, subject) : value;
    case 'number':
    case 'boolean':
    case 'dateTime':
    case 'enum':
      return value;
    case 'json':
      return isOwn ? {} : anonymiseJson(value, subject);
    // Recorded by a version that knew the type or the field: nobody can say what it is.
    case undefined:
      return isOwn ? undefined : anonymiseJson(value, subject);
  }
}

/** Free JSON has ids as the host application wrote them. */
function anonymiseJson(value: unknown, subject: ErasureSubject): unknown {
  if (typeof value === 'string')
    return value === plainId(subject.memberId) ? plainId(subject.pseudonym) : withoutNames(value, subject);
  if (Array.isArray(value)) return value.map((inner: unknown) => anonymiseJson(inner, subject));
  if (typeof value !== 'object' || value === null) return value;
  // Only what JSON knows is looked into.
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      String(anonymiseJson(key, subject)),
      anonymiseJson(inner, subject),
    ]),
  );
}

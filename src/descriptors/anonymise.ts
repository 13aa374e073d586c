import type { StoredDescriptor } from '../domain/action.ts';
import { type ErasureSubject, FORMER_MEMBER } from '../domain/erasure.ts';
import { plainId } from '../domain/stored-id.ts';
import type { DescriptorField } from './define.ts';
import { mediaIn } from './media.ts';
import { descriptorOfType } from './registry.ts';

/** Replaces free text in required fields. */
const REMOVED = '[removed]';
/** Fields this short hold words such as a verb or a kind of thing, not text that people write. */
const MAX_WORD_LENGTH = 64;

/**
 * Replaces the subject's names in a text: the whole text when it equals a name, and names of more than one word anywhere in
 * it. A first name inside a sentence stays, since it cannot be told from any other word.
 */
export function withoutNames(text: string, { names }: { readonly names: readonly string[] }): string {
  if (names.includes(text)) return FORMER_MEMBER;
  return names
    .filter((name) => /\S\s+\S/u.test(name))
    .reduce((left, name) => left.replace(wholeWords(name), FORMER_MEMBER), text);
}

/** A moderator's reason without the subject's names, and without the id where it is a separate word. */
export function withoutSubject(reason: string | null, subject: ErasureSubject): string | null {
  if (reason === null) return null;
  const words = reason.split(/(\s+)/u).map((word) => (word === subject.memberId ? subject.pseudonym : word));
  return withoutNames(words.join(''), subject);
}

function wholeWords(name: string): RegExp {
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/gu, '\\$&');
  return new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, 'gu');
}

/** A descriptor that no longer identifies the subject. In the subject's own actions, text they wrote is removed too. */
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

/** Returns undefined to drop the field. */
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
    case 'media':
      if (isOwn) return field.isOptional ? undefined : [];
      return mediaIn(value).map((one) => ({ ...one, alt: withoutNames(one.alt, subject) }));
    case 'json':
      return isOwn ? {} : anonymiseJson(value, subject);
    // The type or field comes from a release or configuration that this process does not have, so its meaning is unknown.
    case undefined:
      return isOwn ? undefined : anonymiseJson(value, subject);
  }
}

/** Free JSON contains ids in the host application's form. */
function anonymiseJson(value: unknown, subject: ErasureSubject): unknown {
  if (typeof value === 'string')
    return value === plainId(subject.memberId) ? plainId(subject.pseudonym) : withoutNames(value, subject);
  if (Array.isArray(value)) return value.map((inner: unknown) => anonymiseJson(inner, subject));
  if (typeof value !== 'object' || value === null) return value;
  // Only plain JSON objects are searched.
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      String(anonymiseJson(key, subject)),
      anonymiseJson(inner, subject),
    ]),
  );
}

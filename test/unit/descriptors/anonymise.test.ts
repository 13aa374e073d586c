import { describe, expect, it } from 'vitest';
import { anonymiseDescriptor, withoutNames } from '../../../src/descriptors/anonymise.ts';
import { idsOf } from '../../../src/descriptors/ids.ts';
import { descriptorTypes } from '../../../src/descriptors/registry.ts';
import { FORMER_MEMBER, nameOfUnknown, newPseudonym } from '../../../src/domain/erasure.ts';

const subject = { memberId: 'u1', names: ['Ann Lee', 'Ann'], pseudonym: 'erased:1' };

describe('withoutNames', () => {
  it.each([
    ['Ann Lee', FORMER_MEMBER],
    ['Ann', FORMER_MEMBER],
    ['Call Ann Lee, then Ann Lee!', `Call ${FORMER_MEMBER}, then ${FORMER_MEMBER}!`],
    ['Ann was here', 'Ann was here'],
    ['Joann Leek', 'Joann Leek'],
    ['ann lee', 'ann lee'],
    ['', ''],
  ])('makes %j %j', (text, expected) => {
    expect(withoutNames(text, subject)).toBe(expected);
  });

  it('treats names literally, not as patterns', () => {
    expect(withoutNames('a+b (c) $& x', { names: ['a+b (c)'] })).toBe(`${FORMER_MEMBER} $& x`);
    expect(withoutNames('aab c', { names: ['a+b c'] })).toBe('aab c');
  });
});

describe('anonymiseDescriptor', () => {
  it('does not change a descriptor without the member', () => {
    const descriptor = {
      type: 'Custom',
      tags: ['a'],
      verb: 'posted',
      objectType: 'post',
      objectId: 'p',
      data: { list: [1, 'two', null, { three: true }] },
    };
    expect(anonymiseDescriptor(descriptor, subject, false)).toEqual(descriptor);
  });

  it('keeps every registered descriptor valid for the API', () => {
    for (const { type, fields } of descriptorTypes()) {
      const values = Object.entries(fields).map(([name, field]) => [
        name,
        field.kind === 'number'
          ? 1
          : field.kind === 'json'
            ? { by: 'u1' }
            : field.kind === 'id'
              ? 'u1'
              : field.kind === 'media'
                ? [{ url: 'https://pictures.example/1.jpg', alt: 'Ann Lee', kind: 'PICTURE' }]
                : 'Ann Lee',
      ]);
      const stored = { type, tags: [], ...(Object.fromEntries(values) as Record<string, unknown>) };
      for (const isOwn of [true, false]) {
        const next = anonymiseDescriptor(stored, subject, isOwn);
        expect(JSON.stringify(next)).not.toMatch(/"u1"|Ann/);
        for (const [name, field] of Object.entries(fields))
          if (!field.isOptional) expect(next).toHaveProperty(name);
        expect(idsOf(next).every((id) => id === subject.pseudonym)).toBe(true);
      }
    }
  });

  it("removes the texts and free data of the member's own actions, and nothing that others wrote", () => {
    const stored = {
      type: 'Commented',
      tags: [],
      postId: 'p',
      postTitle: 'Title',
      commentId: 'c',
      text: 'Words',
    };
    expect(anonymiseDescriptor(stored, subject, true)).toEqual({
      type: 'Commented',
      tags: [],
      postId: 'p',
      postTitle: 'Title',
      commentId: 'c',
    });
    expect(anonymiseDescriptor(stored, subject, false)).toEqual(stored);
  });

  it("removes the member's own content from a descriptor of an undeclared type", () => {
    const stored = { type: 'Gone', tags: ['x'], secret: 'words', who: 'u1' };
    expect(anonymiseDescriptor(stored, subject, true)).toEqual({ type: 'Gone', tags: ['x'] });
    expect(anonymiseDescriptor(stored, subject, false)).toEqual({
      type: 'Gone',
      tags: ['x'],
      secret: 'words',
      who: 'erased:1',
    });
  });
});

describe('a pseudonym', () => {
  it('is always new and has a neutral name', () => {
    const [first, second] = [newPseudonym('u1'), newPseudonym('u1')];
    expect(first).not.toBe(second);
    expect(nameOfUnknown(first)).toBe(FORMER_MEMBER);
    expect(nameOfUnknown('u1')).toBe('u1');
  });
});

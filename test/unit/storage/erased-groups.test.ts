import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { groupKeyOf } from '../../../src/descriptors/group-key.ts';
import { erasedAction } from '../../../src/features/erasure/store/anonymise-actions.ts';
import type { ActionDocument } from '../../../src/storage/documents/documents.ts';

const CONDUCTED = new Date('2026-01-01T00:00:00Z');

/** Grouped by who is followed. */
function followed(actorId: string, followedId: string): ActionDocument {
  const descriptor = { type: 'Followed', tags: [], followedId, followedName: followedId };
  const groupKey = groupKeyOf({ actorId, descriptor, conducted: CONDUCTED }) ?? '';
  const lists = { audience: [], mentions: [], recipients: [], refs: [], refIds: [actorId, followedId] };
  return { _id: new ObjectId(), actorId, descriptor, groupKey, ...lists } as unknown as ActionDocument;
}

test('an erasure leaves groups as they are, whatever it changes in the fields by which they are grouped', () => {
  const before = followed('bob', 'ann');
  const erased = erasedAction(before, { memberId: 'ann', pseudonym: 'erased:1', names: ['ann'] });
  expect(erased.descriptor['followedId']).toBe('erased:1');
  expect(erased.groupKey).toBe(before.groupKey);
  expect(followed('bob', 'cid').groupKey).not.toBe(before.groupKey);
});

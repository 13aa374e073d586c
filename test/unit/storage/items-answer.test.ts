import { BSON, Int32, Long, ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { decodeEntries } from '../../../src/feed/models/items.ts';

const raw = (document: object): Buffer => Buffer.from(BSON.serialize(document));

test('entries are decoded as the driver would, whatever types and order the database chooses', () => {
  const ids = Array.from({ length: 5 }, () => new ObjectId());
  const [a, b, c, d, e] = ids.map((id) => id.toHexString());
  const times = [0, -1, 1_700_000_000_123, 8_640_000_000_000_000, 5].map((time) => new Date(time));
  const reasons = [['FOLLOW'], ['MENTION', 'FOLLOW'], [], ['FOLLOW'], ['PULL']];
  const documents = ids.map((actionId, n) => ({ actionId, relevancy: times[n], reasons: reasons[n] }));
  const [, , , , last] = documents;
  const decoded = decodeEntries({
    entries: [
      ...documents.slice(0, 4).map(raw),
      raw({ reasons: last?.reasons, relevancy: last?.relevancy, actionId: last?.actionId }),
    ],
    revisions: [
      raw({ _id: ids[3], rev: new Int32(7) }),
      raw({ _id: ids[1], rev: Long.fromNumber(2 ** 40) }),
      raw({ rev: 1.5, _id: ids[4] }),
      raw({ _id: ids[0], rev: 0.25 }),
    ],
  });
  expect(decoded).toEqual([
    { actionId: a, relevancy: times[0], reasons: ['FOLLOW'], rev: 0.25 },
    { actionId: b, relevancy: times[1], reasons: ['MENTION', 'FOLLOW'], rev: 2 ** 40 },
    { actionId: c, relevancy: times[2], reasons: [] },
    { actionId: d, relevancy: times[3], reasons: ['FOLLOW'], rev: 7 },
    { actionId: e, relevancy: times[4], reasons: ['PULL'], rev: 1.5 },
  ]);
});

import { expect, test } from 'vitest';
import { readerMutes } from '../../../../src/domain/mute.ts';
import { profileOfStranger, type ReaderProfile } from '../../../../src/domain/viewer.ts';
import { KeptProfile } from '../../../../src/feed/session/kept-profile.ts';
import { bucketOf } from '../../../../src/lib/bucket-of.ts';

const ann = profileOfStranger('ann');
const stamps = { [bucketOf('ann')]: 1, other: 1 };

function keptOf(profile: ReaderProfile, changes = 0): KeptProfile {
  const kept = new KeptProfile('ann');
  kept.keep(profile, stamps, changes);
  return kept;
}

test('is valid while the stamp is the same and the log reports no change', () => {
  const kept = keptOf(ann, 3);
  expect(kept.find({ ...stamps, other: 2 }, 3)).toBe(ann);
  expect(kept.find(stamps, 4)).toBeNull();
  expect(kept.find({ [bucketOf('ann')]: 2 }, 3)).toBeNull();
  expect(kept.find({}, 3)).toBeNull();
});

test('is valid if its bucket was never changed, until it is', () => {
  const kept = new KeptProfile('ann');
  expect(kept.find({}, 0)).toBeNull();
  kept.keep(ann, {}, 0);
  expect(kept.find({}, 0)).toBe(ann);
  expect(kept.find(stamps, 0)).toBeNull();
});

test('ends with the first mute that ends', () => {
  const muteUntil = (until: Date): ReaderProfile => ({
    ...ann,
    mutes: readerMutes([{ kind: 'TYPE', value: 'Liked', text: null, until }], new Date(0)),
  });
  expect(keptOf(muteUntil(new Date(1))).find(stamps, 0)).toBeNull();
  expect(keptOf(muteUntil(new Date(8e15))).find(stamps, 0)).not.toBeNull();
});

test('is not cached for a reader with snoozed items', () => {
  expect(keptOf({ ...ann, hasEnds: true }).find(stamps, 0)).toBeNull();
});

test('spreads readers over the stamps', () => {
  const names = Array.from({ length: 2_000 }, (_, n) => bucketOf(`reader-${String(n)}`));
  expect(new Set(names).size).toBeGreaterThan(200);
});

import { describe, expect, test, vi } from 'vitest';
import { isMutedAction, type MutableAction } from '../../../src/descriptors/muted-action.ts';
import { NO_MUTES, readerMutes, type Mute, type MuteKind } from '../../../src/domain/mute.ts';

const now = new Date(1_000);

function muting(kind: MuteKind, value: string, until: Date | null = null): Mute {
  return { kind, value, text: null, until };
}

function rating(text: string): MutableAction {
  return {
    actorId: 'ann',
    refIds: ['site', 'mary', 'ann'],
    refs: [{ id: 'site', type: 'site', label: 'The North Gate' }],
    descriptor: {
      ...{ type: 'ApplicationRating', tags: ['holiday'] },
      ...{ raterId: 'ann', raterName: 'Ann Lee', applicantId: 'mary', applicantName: 'Mary Fanning' },
      ...{ positionId: 'cook', positionName: 'Cook', ratingScore: 4, ratingText: text },
    },
  };
}

const isMuted = (mute: Mute, action = rating('Well done')): boolean =>
  isMutedAction(readerMutes([mute], now), action);

describe('an action is muted by', () => {
  test.each([
    ['MEMBER', 'ann', true],
    ['MEMBER', 'mary', false],
    ['REF', 'mary', true],
    ['REF', 'ann', true],
    ['REF', 'cook', false],
    ['TYPE', 'ApplicationRating', true],
    ['TYPE', 'Custom', false],
    ['PHRASE', 'well done', true],
    ['PHRASE', 'done', true],
    ['PHRASE', 'don', false],
    ['PHRASE', 'done well', false],
    ['PHRASE', 'mary fanning', true],
    ['PHRASE', 'north gate', true],
    ['PHRASE', 'holiday', false],
    ['PHRASE', 'cook the', false],
  ] as const)('%s %s: %s', (kind, value, expected) => {
    expect(isMuted(muting(kind, value))).toBe(expected);
  });

  test('a mute until the millisecond in which it ends', () => {
    expect(isMuted(muting('MEMBER', 'ann', new Date(1_001)))).toBe(true);
    expect(isMuted(muting('MEMBER', 'ann', new Date(1_000)))).toBe(false);
  });

  test('nothing without mutes', () => {
    expect(isMutedAction(NO_MUTES, rating('Well done'))).toBe(false);
  });

  test('what a picture of it shows', () => {
    const media = [{ url: 'https://pictures.example/1.jpg', alt: 'A large spider', kind: 'PICTURE' }];
    const posted = { ...rating(''), descriptor: { type: 'Posted', tags: [], postId: 'p', media } };
    expect(isMuted(muting('PHRASE', 'spider'), posted)).toBe(true);
    expect(isMuted(muting('PHRASE', 'pictures'), posted)).toBe(false);
  });

  test('only labels if its type is not declared', () => {
    const unknown = { ...rating(''), descriptor: { type: 'Gone', tags: [], text: 'Well done' } };
    expect(isMuted(muting('PHRASE', 'well done'), unknown)).toBe(false);
    expect(isMuted(muting('PHRASE', 'gate'), unknown)).toBe(true);
  });
});

test('an edited action is compared again, as it is decoded again', () => {
  const before = rating('Well done');
  const mutes = readerMutes([muting('PHRASE', 'well done')], now);
  expect(isMutedAction(mutes, before)).toBe(true);
  expect(isMutedAction(mutes, { ...before, descriptor: rating('Badly').descriptor })).toBe(false);
});

test('a text is tokenised once for all readers and requests, until it is evicted', () => {
  // Its words are there, in another order.
  const mutes = readerMutes([muting('PHRASE', "word don't")], now);
  const text = (n: number): string => `${String(n)} don't ${'word '.repeat(1_500)}`;
  const spy = vi.spyOn(Intl.Segmenter.prototype, 'segment');
  /** Whether it had to be taken apart; each time it is decoded again. */
  const isTakenApart = (n: number): boolean => {
    spy.mockClear();
    expect(isMutedAction(mutes, rating(text(n)))).toBe(false);
    return spy.mock.calls.length > 0;
  };
  try {
    expect([isTakenApart(0), isTakenApart(0)]).toEqual([true, false]);
    for (let n = 1; n < 300; n += 1) expect(isTakenApart(n)).toBe(true);
    expect([isTakenApart(299), isTakenApart(0)]).toEqual([false, true]);
  } finally {
    spy.mockRestore();
  }
});

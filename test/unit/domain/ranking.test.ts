import { describe, expect, test } from 'vitest';
import {
  actionScore,
  compareRanked,
  DEFAULT_RANKING,
  generationAt,
  initialScore,
  relationshipFactor,
  type ScoredAction,
} from '../../../src/domain/ranking.ts';
import { fc } from '../../support/fast-check.ts';

const HOUR = 3_600_000;
const now = new Date('2026-03-01T12:00:00.000Z');

function action(ageHours: number, engagement: Partial<ScoredAction['engagement']> = {}): ScoredAction {
  return {
    conducted: new Date(now.getTime() - ageHours * HOUR),
    type: 'Posted',
    engagement: { likes: 0, comments: 0, reshares: 0, ...engagement },
  };
}

const score = (of: ScoredAction, weights = DEFAULT_RANKING): number => actionScore(of, now, weights);

describe('the score of an action', () => {
  test('is 1 for a new action without interactions', () => {
    expect(score(action(0))).toBe(1);
  });

  test.each([
    [1, 1 / 2],
    [2, 1 / (1 + 2 ** 1.8)],
    [24, 1 / (1 + 24 ** 1.8)],
  ])('decreases with age: after %d hours', (hours, expected) => {
    expect(score(action(hours))).toBeCloseTo(expected, 12);
  });

  test('grows with the logarithm of engagement', () => {
    expect(score(action(0, { likes: 9 }))).toBeCloseTo(1 + 0.5 * Math.log(10), 12);
    expect(score(action(0, { comments: 9 }))).toBeCloseTo(1 + Math.log(10), 12);
    expect(score(action(0, { reshares: 9 }))).toBeCloseTo(1 + Math.log(10), 12);
    expect(score(action(1, { likes: 3, comments: 2, reshares: 1 }))).toBeCloseTo(
      (1 + 0.5 * Math.log(4) + Math.log(3) + Math.log(2)) / 2,
      12,
    );
  });

  test('is multiplied by the weight of the type', () => {
    const weights = { ...DEFAULT_RANKING, types: { Posted: 3 } };
    expect(score(action(1), weights)).toBe(1.5);
    expect(score({ ...action(1), type: 'Liked' }, weights)).toBe(0.5);
  });

  test('of an action newer than the scoring equals the score at its creation', () => {
    expect(score(action(-1))).toBe(1);
  });

  test('ignores engagement before the first scoring', () => {
    const busy = action(3, { likes: 100 });
    expect(initialScore(busy, now, DEFAULT_RANKING)).toBe(score(action(3)));
  });

  test('never decreases with engagement and never increases with age', () => {
    const counts = fc.record({ likes: fc.nat(1e9), comments: fc.nat(1e9), reshares: fc.nat(1e9) });
    fc.assert(
      fc.property(
        counts,
        counts,
        fc.double({ min: 0, max: 1e5, noNaN: true }),
        fc.nat(1e5),
        (a, more, age, older) => {
          const sum = {
            likes: a.likes + more.likes,
            comments: a.comments + more.comments,
            reshares: a.reshares + more.reshares,
          };
          expect(score(action(age, sum))).toBeGreaterThanOrEqual(score(action(age, a)));
          expect(score(action(age + older, a))).toBeLessThanOrEqual(score(action(age, a)));
        },
      ),
    );
  });
});

test('relationship is 1 without interactions and grows with each one', () => {
  expect(relationshipFactor(0, DEFAULT_RANKING)).toBe(1);
  expect(relationshipFactor(1, DEFAULT_RANKING)).toBeCloseTo(1 + 0.5 * Math.log(2), 12);
  expect(relationshipFactor(20, DEFAULT_RANKING)).toBeGreaterThan(relationshipFactor(19, DEFAULT_RANKING));
});

test('all times within a quarter of an hour have one generation, which is not later than they are', () => {
  expect(generationAt(new Date('2026-03-01T12:14:59.999Z'))).toEqual(new Date('2026-03-01T12:00:00.000Z'));
  expect(generationAt(new Date('2026-03-01T12:15:00.000Z'))).toEqual(new Date('2026-03-01T12:15:00.000Z'));
});

test('a ranking puts the higher score first, and the higher id among equal ones', () => {
  const entries = [
    { score: 1, actionId: 'a' },
    { score: 2, actionId: 'a' },
    { score: 1, actionId: 'b' },
  ];
  expect(entries.sort(compareRanked)).toEqual([
    { score: 2, actionId: 'a' },
    { score: 1, actionId: 'b' },
    { score: 1, actionId: 'a' },
  ]);
});

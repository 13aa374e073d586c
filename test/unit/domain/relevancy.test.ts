import { describe, expect, test } from 'vitest';
import {
  baseRelevancy,
  DEFAULT_WEIGHTS,
  INTERACTION_KINDS,
  relevancyFor,
  relevancyOf,
  type InteractionGroup,
  type RelevancyAction,
  type RelevancyReader,
} from '../../../src/domain/relevancy.ts';
import type { Follow } from '../../../src/domain/viewer.ts';
import { fc } from '../../support/fast-check.ts';

const DAY = 86_400_000;
const at = (days: number): Date => new Date(Date.UTC(2026, 0, 1) + days * DAY);

const action: RelevancyAction = {
  conducted: at(0),
  recorded: at(0),
  refIds: ['site', 'actor'],
  descriptor: { type: 'Custom' },
  mentions: ['mentioned'],
  recipients: ['assigned'],
  audience: ['public'],
  concerned: null,
  formerlyConcerned: [],
};
const comment: InteractionGroup = { kind: 'COMMENT', actorId: 'boss', departmentIds: ['hr'], latest: at(20) };
const reader = (change: Partial<RelevancyReader> = {}): RelevancyReader => ({
  userId: 'reader',
  departmentId: null,
  supervisorId: null,
  ...change,
});

test('starts at the time the action was conducted, and never after it was recorded', () => {
  expect(baseRelevancy({ conducted: at(1), recorded: at(2) })).toEqual(at(1));
  expect(baseRelevancy({ conducted: at(3), recorded: at(2) })).toEqual(at(2));
});

describe('a comment after twenty days', () => {
  test.each<[string, RelevancyReader]>([
    ['who is mentioned', reader({ userId: 'mentioned' })],
    ['who is assigned', reader({ userId: 'assigned' })],
    ['the department', reader({ departmentId: 'hr' })],
    ['whose supervisor wrote it', reader({ supervisorId: 'boss' })],
  ])('boosts the action to its own time for %s', (_name, who) => {
    expect(relevancyOf(who, action, [comment], DEFAULT_WEIGHTS)).toEqual(at(20));
  });

  test.each<[string, RelevancyReader]>([
    ['a stranger', reader()],
    ['another department', reader({ departmentId: 'it', supervisorId: 'other' })],
  ])('boosts the action far less for %s', (_name, who) => {
    expect(relevancyOf(who, action, [comment], DEFAULT_WEIGHTS)).toEqual(at(2));
  });

  test('boosts the action for the department it was published to', () => {
    const departmental = { ...action, audience: ['department:it'] };
    expect(relevancyOf(reader({ departmentId: 'it' }), departmental, [comment], DEFAULT_WEIGHTS)).toEqual(
      at(20),
    );
  });
});

test('does not lower the action if it is older than the action', () => {
  const early = { ...comment, latest: at(-5) };
  expect(relevancyOf(reader({ departmentId: 'hr' }), action, [early], DEFAULT_WEIGHTS)).toEqual(at(0));
});

test('boosts fully for members named by an edit if it comes after the edit', () => {
  const edited = { ...action, concerned: [{ key: 'user:late', since: at(21) }] };
  const later = { ...comment, latest: at(30) };
  const late = reader({ userId: 'late' });
  expect(relevancyOf(late, edited, [comment], DEFAULT_WEIGHTS)).toEqual(at(2));
  expect(relevancyOf(late, edited, [comment, later], DEFAULT_WEIGHTS)).toEqual(at(30));
});

test('no longer boosts for members an edit removed, also if a later interaction represents earlier ones', () => {
  const edited = { ...action, formerlyConcerned: [{ key: 'user:former', until: at(20) }] };
  const former = reader({ userId: 'former' });
  const later = { ...comment, latest: at(30) };
  expect(relevancyOf(former, edited, [comment], DEFAULT_WEIGHTS)).toEqual(at(20));
  expect(relevancyOf(former, edited, [later], DEFAULT_WEIGHTS)).toEqual(at(20));
  expect(relevancyOf(former, edited, [{ ...comment, latest: at(300) }], DEFAULT_WEIGHTS)).toEqual(at(30));
});

test('a reshare boosts to its own time only for readers who followed the resharer then', () => {
  const reshare: InteractionGroup = {
    ...{ kind: 'RESHARE', actorId: 'bob', departmentIds: [], latest: at(20), passedOn: at(21) },
  };
  const following = (since: Date, until?: Date): RelevancyReader =>
    reader({
      follows: [{ refId: 'bob', active: false, spans: [until === undefined ? { since } : { since, until }] }],
    });
  const lifted = (who: RelevancyReader): Date => relevancyOf(who, action, [reshare], DEFAULT_WEIGHTS);
  expect(lifted(following(at(21)))).toEqual(at(20));
  expect(lifted(following(at(5), at(22)))).toEqual(at(20));
  expect(lifted(following(at(5), at(21)))).toEqual(at(2));
  expect(lifted(following(at(22)))).toEqual(at(2));
  const { passedOn: _passedOn, ...notPassedOn } = reshare;
  expect(relevancyOf(following(at(0)), action, [notPassedOn], DEFAULT_WEIGHTS)).toEqual(at(2));
});

test('boosts to its own time for an open assigned follow; a reshare only if the follow includes its type', () => {
  const follow = { refId: 'site', active: true, spans: [{ since: at(30) }], isAssigned: true } as const;
  const lifted = (one: Follow): Date =>
    relevancyOf(reader({ follows: [one] }), action, [comment], DEFAULT_WEIGHTS);
  expect(lifted(follow)).toEqual(at(20));
  expect(lifted({ ...follow, active: false })).toEqual(at(2));
  expect(lifted({ ...follow, refId: 'elsewhere' })).toEqual(at(2));
  const { isAssigned: _isAssigned, ...plain } = follow;
  expect(lifted(plain)).toEqual(at(2));
  const reshare: InteractionGroup = { ...comment, kind: 'RESHARE', passedOn: at(20) };
  const passed = (types: readonly string[]): Date => {
    const follows = [{ refId: 'boss', active: true, spans: [{ since: at(0), types }] }];
    return relevancyOf(reader({ follows }), action, [reshare], DEFAULT_WEIGHTS);
  };
  expect([passed(['Custom', 'Posted']), passed(['Posted'])]).toEqual([at(20), at(2)]);
});

const name = fc.constantFrom('a', 'b', 'c');
const groups = fc.array(
  fc.record({
    kind: fc.constantFrom(...INTERACTION_KINDS),
    actorId: name,
    departmentIds: fc.uniqueArray(name, { maxLength: 2 }),
    latest: fc.integer({ min: -DAY, max: 30 * DAY }).map((ms) => new Date(at(0).getTime() + ms)),
  }),
  { maxLength: 8 },
);
/** One of each member at most has passed it on. */
const passedOn = fc
  .uniqueArray(fc.record({ actorId: name, day: fc.nat({ max: 30 }) }), { selector: ({ actorId }) => actorId })
  .map((reshares): InteractionGroup[] =>
    reshares.map(({ actorId, day }) => ({
      ...{ kind: 'RESHARE', actorId, departmentIds: [], latest: at(day), passedOn: at(day) },
    })),
  );
const concerned = fc.uniqueArray(
  fc.record({
    key: fc.tuple(fc.constantFrom('user', 'department'), name).map(([kind, id]) => `${kind}:${id}`),
    since: fc.option(fc.integer({ min: 0, max: 30 }).map(at)),
  }),
  { selector: ({ key }) => key },
);
const formerlyConcerned = fc.uniqueArray(
  fc.record({
    key: fc.tuple(fc.constantFrom('user', 'department'), name).map(([kind, id]) => `${kind}:${id}`),
    until: fc.integer({ min: 0, max: 30 }).map(at),
  }),
  { selector: ({ key }) => key },
);
const someAction = fc.record({
  concerned: fc.option(concerned),
  formerlyConcerned,
  conducted: fc.constant(at(0)),
  recorded: fc.constant(at(0)),
  refIds: fc.uniqueArray(name),
  descriptor: fc.record({ type: fc.constantFrom('Custom', 'Posted') }),
  mentions: fc.uniqueArray(name),
  recipients: fc.uniqueArray(name),
  audience: fc.uniqueArray(name.map((id) => `department:${id}`)),
});
const someReader = fc.record({
  userId: name,
  departmentId: fc.option(name),
  supervisorId: fc.option(name),
  follows: fc.array(
    fc.record(
      {
        refId: name,
        active: fc.boolean(),
        spans: fc.array(
          fc
            .tuple(fc.nat({ max: 30 }), fc.constantFrom({}, { types: ['Posted'] }))
            .map(([day, types]) => ({ since: at(day), until: at(day + 10), ...types })),
          { maxLength: 2 },
        ),
        ...{ isAssigned: fc.constant(true as const) },
      },
      { requiredKeys: ['refId', 'active', 'spans'] },
    ),
    { maxLength: 3 },
  ),
});

test('gives the same result for many readers at once as for each alone', () => {
  fc.assert(
    fc.property(someAction, groups, passedOn, fc.array(someReader), (what, others, reshares, readers) => {
      const interactions = [...others, ...reshares];
      const forReader = relevancyFor(what, interactions, DEFAULT_WEIGHTS);
      for (const who of readers)
        expect(forReader(who)).toEqual(relevancyOf(who, what, interactions, DEFAULT_WEIGHTS));
    }),
  );
});

test('never falls with an interaction, and never exceeds the latest one', () => {
  fc.assert(
    fc.property(someAction, groups, groups, someReader, (what, before, more, who) => {
      const old = relevancyOf(who, what, before, DEFAULT_WEIGHTS).getTime();
      const all = [...before, ...more];
      const now = relevancyOf(who, what, all, DEFAULT_WEIGHTS).getTime();
      expect(now).toBeGreaterThanOrEqual(old);
      const times = [
        ...all.map((group) => group.latest),
        ...what.formerlyConcerned.map(({ until }) => until),
      ];
      expect(now).toBeLessThanOrEqual(Math.max(at(0).getTime(), ...times.map((time) => time.getTime())));
    }),
  );
});

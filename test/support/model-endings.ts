import { SCOPES } from '../../src/domain/action.ts';
import { fc } from './fast-check.ts';
import {
  changes,
  edit,
  followMany,
  move,
  PEOPLE,
  person,
  REFS,
  type Step,
  type Story,
} from './model-steps.ts';

// Ways in which a reason to have an action, or a concern with it, comes to its end. In usual histories they seldom meet an
// action that was lifted by it.

const team = fc
  .tuple(...PEOPLE.map((who) => fc.record({ who: fc.constant(who), ...changes })))
  .map((moves): Step => ({ do: 'move', moves }));

/** Many follow much, and are responsible for some of it. */
const follows = fc
  .array(
    fc.record({
      by: person,
      ref: fc.constantFrom<string>(...REFS, ...PEOPLE),
      isAssigned: fc.boolean(),
    }),
    { minLength: 6, maxLength: 12, size: 'max' },
  )
  .map((pairs): Step => ({ do: 'followMany', pairs }));

const published = fc
  .record({
    actor: person,
    scope: fc.constantFrom(...SCOPES, 'PUBLIC' as const, 'FOLLOWERS' as const),
    mentions: fc.subarray([...PEOPLE], { maxLength: 3 }),
    recipients: fc.subarray([...PEOPLE], { minLength: 1, maxLength: 3 }),
    refs: fc.subarray<string>([...REFS], { minLength: 1 }),
  })
  .map((given): Step => ({
    ...{ do: 'publish', count: 1, conducted: 0, type: 'Custom', text: 'posted', tags: [] },
    ...given,
    recipients: given.scope === 'RESTRICTED' ? given.recipients : [],
  }));

const lifted = fc
  .record({
    actor: person,
    kind: fc.constantFrom('COMMENT' as const, 'LIKE' as const, 'RESHARE' as const),
    at: fc.constantFrom<(number | 'now')[]>(2, 3, 4, 'now'),
  })
  .map((given): Step => ({
    do: 'interact',
    action: 0,
    byService: false,
    reaction: '👍',
    key: null,
    ...given,
  }));

const ended: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: edit.map((step): Step => ({ ...step, action: 0, isStale: false }) as Step) },
  { weight: 2, arbitrary: move },
  { weight: 2, arbitrary: followMany },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('unfollow' as const),
      by: person,
      ref: fc.constantFrom<string>(...REFS, ...PEOPLE),
      keepHistory: fc.boolean(),
      isSync: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('takeBack' as const),
      action: fc.constant(0),
      by: person,
      kind: fc.constant('RESHARE' as const),
      reaction: fc.constant(null),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom<Step[]>({ do: 'hide', action: 0 }, { do: 'unhide', action: 0 }) },
);

const fanOut: fc.Arbitrary<Step[]> = fc.constantFrom<Step[][]>([], [{ do: 'fanOut' }], [{ do: 'fanOut' }]);

/** An action that reached many and was lifted for some, then what takes that from them, and more that lifts it. */
export const endings: fc.Arbitrary<Story> = fc.record({
  steps: fc
    .tuple(
      fc.tuple(team, follows, published),
      fc.array(lifted, { minLength: 1, maxLength: 3 }),
      fanOut,
      fc.array(fc.tuple(ended, fanOut, fc.array(lifted, { maxLength: 1 }), fanOut), {
        minLength: 1,
        maxLength: 4,
      }),
    )
    .map(([first, lifts, delivered, rounds]): Step[] => [
      ...[...first, ...lifts, ...delivered],
      ...rounds.flatMap(([end, passed, again, passedAgain]) => [end, ...passed, ...again, ...passedAgain]),
    ]),
  focus: person,
  pageSize: fc.integer({ min: 1, max: 3 }),
});

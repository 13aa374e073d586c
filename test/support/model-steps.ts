import { SCOPES, type Scope } from '../../src/domain/action.ts';
import type { MuteKind } from '../../src/domain/mute.ts';
import { NOTIFICATION_KINDS, type NotificationKind } from '../../src/domain/notification.ts';
import { INTERACTION_KINDS, type InteractionKind } from '../../src/domain/relevancy.ts';
import { fc } from './fast-check.ts';

/** Everybody there is. All of them act, and all of them read; Eve is an admin. */
export const PEOPLE = ['ann', 'bob', 'cid', 'dan', 'eve'] as const;
export type Person = (typeof PEOPLE)[number];
export const REFS = ['site', 'position', 'applicant'] as const;
/** What actions say, and phrases that are in some of them. */
export const TEXTS = ['posted', 'went home', 'Went  HOME again', 'homework'] as const;
export const PHRASES = ['posted', 'home', 'Went Home', 'went  home', 'home again'] as const;
const TYPES = ['Custom', 'NewApplicant', 'ApplicantRatingRequested'] as const;
/** Of each reader. */
export const LISTS = ['near', 'far'] as const;
export const TAGS = ['red', 'blue'] as const;
/** What comments say. */
export const WORDS = ['well done', 'Really?'] as const;
export const REACTIONS = ['👍', '❤️'] as const;

/** Days after a day long ago, or the moment it happens, or so many minutes before, or a minute later. */
export type Moment = number | 'now' | 'soon' | { readonly ago: number };

/** The whole member as they are then: what is absent is emptied. */
export interface Move {
  readonly who: Person;
  readonly team?: string | null;
  readonly department?: string | null;
  readonly supervisor?: Person | null;
}

/** What is absent stays as it is. */
export interface FollowOptions {
  readonly types?: readonly string[] | null | undefined;
  readonly isAssigned?: boolean | undefined;
}

/** What a reader does with an item of their feed. */
export type ItemStep =
  | 'hideItem'
  | 'unhideItem'
  | 'archiveItem'
  | 'unarchiveItem'
  | 'snoozeItem'
  | 'unsnoozeItem';

/** Actions are given by a number: its remainder picks one of those published so far. Without any the step is nothing. */
export type Step =
  | {
      readonly do: 'publish';
      /** So many like this, recorded in one millisecond. */
      readonly count: number;
      readonly actor: Person;
      readonly scope: Scope;
      readonly mentions: readonly Person[];
      readonly recipients: readonly Person[];
      readonly refs: readonly string[];
      readonly conducted: Moment;
      readonly type: (typeof TYPES)[number];
      /** Of an ApplicantRatingRequested. */
      readonly asked?: Person;
      readonly text: string;
      readonly tags: readonly string[];
      /** It is to be published some time, when its time has come: nobody is shown it before. */
      readonly isLater?: boolean;
    }
  /** The time of one that is scheduled has come: a number picks it. */
  | { readonly do: 'comeDue'; readonly scheduled: number }
  | {
      readonly do: 'interact';
      readonly action: number;
      readonly actor: Person;
      readonly byService: boolean;
      readonly kind: InteractionKind;
      /** Of a REACTION. */
      readonly reaction: string;
      readonly key: string | null;
      readonly at: Moment;
      /** Of a COMMENT. */
      readonly words?: string | null;
      /** A number picks the interaction of the action that a COMMENT replies to. */
      readonly replyTo?: number | null;
      readonly mentions?: readonly Person[] | undefined;
    }
  /** A number picks an interaction of the action, whose text is to be another one. */
  | {
      readonly do: 'editInteraction';
      readonly action: number;
      readonly interaction: number;
      readonly by: Person;
      readonly words: string;
    }
  /** All of a kind; of a REACTION this one, or all of them. */
  | {
      readonly do: 'takeBack';
      readonly action: number;
      readonly by: Person;
      readonly kind: InteractionKind;
      readonly reaction: string | null;
    }
  /** A number picks an interaction of the action. */
  | {
      readonly do: 'hideInteraction' | 'unhideInteraction';
      readonly action: number;
      readonly interaction: number;
    }
  /** A number picks one of the list. */
  | {
      readonly do: 'seeNotifications' | 'readNotifications' | 'readNotification';
      readonly by: Person;
      readonly upTo: number | 'all';
    }
  | {
      readonly do: 'preferNotifications';
      readonly by: Person;
      readonly kind: NotificationKind;
      readonly type: (typeof TYPES)[number] | null;
      readonly isOn: boolean;
    }
  | { readonly do: 'hide' | 'unhide'; readonly action: number }
  /** What is absent stays. A stale one goes by the version before. */
  | {
      readonly do: 'edit';
      readonly action: number;
      readonly by: Person | 'a service';
      readonly isStale: boolean;
      readonly scope?: Scope | undefined;
      readonly mentions?: readonly Person[] | undefined;
      readonly recipients?: readonly Person[] | undefined;
      readonly refs?: readonly string[] | undefined;
      readonly tags?: readonly string[] | undefined;
      /** With tags alone. */
      readonly text?: string | undefined;
      /** With tags alone, of an ApplicantRatingRequested. */
      readonly asked?: Person | undefined;
      /** It is to be there for so many hours, or for good. */
      readonly expires?: number | 'never' | undefined;
    }
  /** The time it was published until has come. */
  | { readonly do: 'expire'; readonly action: number }
  | { readonly do: 'delete'; readonly action: number; readonly by: Person }
  | {
      readonly do: 'follow';
      readonly by: Person;
      readonly ref: string;
      readonly copyLimit: number;
      readonly types?: FollowOptions['types'];
    }
  | {
      readonly do: 'followMany';
      readonly pairs: readonly ({ readonly by: Person; readonly ref: string } & FollowOptions)[];
    }
  | {
      readonly do: 'unfollow';
      readonly by: Person;
      readonly ref: string;
      readonly keepHistory: boolean;
      readonly isSync: boolean;
    }
  /** A member and a ref by name. */
  | {
      readonly do: 'addMute' | 'removeMute';
      readonly by: Person;
      readonly kind: MuteKind;
      readonly value: string;
      readonly hasEnd: boolean;
    }
  | { readonly do: 'block' | 'unblock'; readonly by: Person; readonly who: Person }
  /** The end of one has come: a number picks it among those that have one. */
  | { readonly do: 'endMute'; readonly by: Person; readonly mute: number }
  | { readonly do: ItemStep; readonly by: Person; readonly action: number }
  /** The time until which somebody snoozed it has come, and was this. */
  | { readonly do: 'endSnooze'; readonly by: Person; readonly action: number; readonly at: number | 'now' }
  | { readonly do: 'markItemRead' | 'markItemUnread'; readonly by: Person; readonly action: number }
  /** A list that is not there yet is made. */
  | {
      readonly do: 'putInList' | 'takeFromList';
      readonly by: Person;
      readonly list: string;
      readonly ref: string;
    }
  | {
      readonly do: 'makeExclusive';
      readonly by: Person;
      readonly list: string;
      readonly isExclusive: boolean;
    }
  | { readonly do: 'bookmark' | 'unbookmark'; readonly by: Person; readonly action: number }
  /** A number picks an entry of the feed. */
  | { readonly do: 'markRead'; readonly by: Person; readonly upTo: number | 'the end of time' }
  | {
      readonly do: 'pin' | 'unpin';
      readonly action: number;
      readonly ref: string;
      readonly by: Person | 'a service';
    }
  | { readonly do: 'rename'; readonly ref: string; readonly label: string }
  | { readonly do: 'move'; readonly moves: readonly Move[] }
  /** What is open is delivered; or workers die after their first write; or one works beside the steps to come. */
  | { readonly do: 'fanOut' | 'cutOff' | 'startWorker' | 'stopWorker' }
  /** Somebody reads, wherever the fan-out may be. */
  | { readonly do: 'look'; readonly by: Person };

export const person = fc.constantFrom(...PEOPLE);
const few = fc.subarray([...PEOPLE], { minLength: 1, maxLength: 2 });
const ref = fc.oneof(
  { arbitrary: fc.constantFrom<string>(...REFS), weight: 3 },
  { arbitrary: person, weight: 2 },
);
const action = fc.nat({ max: 11 });
const by = { by: person };
function moment(firstDay: number): fc.Arbitrary<Moment> {
  return fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: firstDay, max: firstDay + 5 }) },
    { weight: 3, arbitrary: fc.constant('now' as const) },
    { weight: 1, arbitrary: fc.constant('soon' as const) },
    { weight: 3, arbitrary: fc.record({ ago: fc.integer({ min: 1, max: 60 }) }) },
  );
}
export const changes = {
  team: fc.constantFrom('t1', 't2', null),
  department: fc.constantFrom('d1', 'd2', 'd3', null),
  supervisor: fc.option(person),
};

function doing<const T extends Step['do']>(...what: readonly [T, ...T[]]): { do: fc.Arbitrary<T> } {
  return { do: fc.constantFrom(...what) };
}

const publish: fc.Arbitrary<Step> = fc
  .record({
    ...doing('publish'),
    count: fc.constantFrom(1, 1, 1, 2, 3),
    actor: person,
    scope: fc.oneof(fc.constantFrom(...SCOPES), fc.constantFrom('FOLLOWERS' as const, 'PUBLIC' as const)),
    mentions: fc.oneof(fc.constant([]), fc.constant([]), few),
    recipients: few,
    refs: fc.subarray<string>([...REFS], { maxLength: 2 }),
    conducted: moment(0),
    type: fc.constantFrom('Custom', ...TYPES),
    asked: person,
    text: fc.constantFrom(...TEXTS),
    tags: fc.subarray<string>([...TAGS]),
    isLater: fc.constantFrom(false, false, false, true),
  })
  .map((step) => (step.scope === 'RESTRICTED' ? step : { ...step, recipients: [] }));

const interact: fc.Arbitrary<Step> = fc.record({
  ...doing('interact'),
  action,
  actor: person,
  byService: fc.boolean(),
  kind: fc.constantFrom('COMMENT' as const, ...INTERACTION_KINDS),
  reaction: fc.constantFrom(...REACTIONS),
  key: fc.constantFrom(null, null, 'k'),
  // Mostly after what it is about.
  at: moment(3),
  words: fc.constantFrom(null, ...WORDS),
  replyTo: fc.oneof(fc.constant(null), fc.nat({ max: 3 })),
  mentions: fc.oneof(fc.constant(undefined), fc.subarray([...PEOPLE])),
});

const editInteraction: fc.Arbitrary<Step> = fc.record({
  ...doing('editInteraction'),
  ...by,
  action,
  interaction: fc.nat({ max: 3 }),
  words: fc.constantFrom(...WORDS),
});

const pin: fc.Arbitrary<Step> = fc.record({
  ...doing('pin', 'pin', 'pin', 'unpin'),
  action,
  ref,
  by: fc.constantFrom('a service' as const, 'a service' as const, 'eve' as const, ...PEOPLE),
});

/** Somebody passes something on, or takes that back. */
const reshare: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      ...doing('interact'),
      action,
      actor: person,
      byService: fc.boolean(),
      kind: fc.constant('RESHARE' as const),
      reaction: fc.constant('👍'),
      key: fc.constantFrom(null, 'k'),
      at: moment(3),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      ...doing('takeBack'),
      ...by,
      action,
      kind: fc.constant('RESHARE' as const),
      reaction: fc.constant(null),
    }),
  },
);

export const edit: fc.Arbitrary<Step> = fc
  .record(
    {
      ...doing('edit'),
      action,
      by: fc.constantFrom('a service', 'a service', 'a service', 'eve', ...PEOPLE),
      isStale: fc.constantFrom(false, false, false, false, true),
      scope: fc.constantFrom(...SCOPES),
      mentions: fc.oneof(fc.constant([]), few),
      recipients: few,
      refs: fc.subarray<string>([...REFS], { maxLength: 2 }),
      tags: fc.subarray<string>([...TAGS]),
      text: fc.constantFrom(...TEXTS),
      asked: person,
      expires: fc.constantFrom(1, 2, 'never' as const),
    },
    { requiredKeys: ['do', 'action', 'by', 'isStale', 'tags'] },
  )
  // Mostly what may be done.
  .map((step) => (step.scope === 'RESTRICTED' ? step : { ...step, recipients: undefined }));

const takeBack: fc.Arbitrary<Step> = fc.record({
  ...doing('takeBack'),
  ...by,
  action,
  kind: fc.constantFrom(...INTERACTION_KINDS),
  reaction: fc.constantFrom(null, ...REACTIONS),
});

const moderateInteraction: fc.Arbitrary<Step> = fc.record({
  ...doing('hideInteraction', 'hideInteraction', 'unhideInteraction'),
  action,
  interaction: fc.nat({ max: 3 }),
});

export const move: fc.Arbitrary<Step> = fc.record({
  ...doing('move'),
  moves: fc.array(fc.record({ who: person, ...changes }, { requiredKeys: ['who'] }), {
    minLength: 1,
    maxLength: 3,
  }),
});

const types = fc.constantFrom(
  undefined,
  undefined,
  undefined,
  null,
  ['Custom'],
  ['NewApplicant'],
  ['NewApplicant', 'Custom'],
);
const isAssigned = fc.constantFrom(undefined, undefined, true, false);
const options = { types, isAssigned };

export const followMany: fc.Arbitrary<Step> = fc.record({
  ...doing('followMany'),
  pairs: fc.array(fc.record({ ...by, ref, ...options }), { minLength: 1, maxLength: 4 }),
});

const target = fc.oneof(
  fc.record({ kind: fc.constant('MEMBER' as const), value: person }),
  fc.record({ kind: fc.constant('REF' as const), value: ref }),
  fc.record({ kind: fc.constant('TYPE' as const), value: fc.constantFrom(...TYPES) }),
  fc.record({ kind: fc.constant('PHRASE' as const), value: fc.constantFrom(...PHRASES) }),
);
const changeMute: fc.Arbitrary<Step> = fc
  .tuple(fc.record({ ...doing('addMute', 'addMute', 'removeMute'), ...by, hasEnd: fc.boolean() }), target)
  .map(([change, what]) => ({ ...change, ...what }));

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      ...doing('seeNotifications', 'readNotifications', 'readNotification', 'readNotification'),
      ...by,
      upTo: fc.oneof(fc.nat({ max: 7 }), fc.nat({ max: 7 }), fc.constant('all' as const)),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      ...doing('preferNotifications'),
      ...by,
      kind: fc.constantFrom(...NOTIFICATION_KINDS),
      type: fc.constantFrom(null, ...TYPES),
      isOn: fc.boolean(),
    }),
  },
  { weight: 9, arbitrary: publish },
  { weight: 3, arbitrary: fc.record({ ...doing('comeDue'), scheduled: fc.nat({ max: 2 }) }) },
  { weight: 8, arbitrary: interact },
  { weight: 5, arbitrary: reshare },
  { weight: 3, arbitrary: takeBack },
  { weight: 3, arbitrary: moderateInteraction },
  { weight: 2, arbitrary: editInteraction },
  { weight: 3, arbitrary: pin },
  { weight: 5, arbitrary: edit },
  { weight: 2, arbitrary: fc.record({ ...doing('hide'), action }) },
  { weight: 2, arbitrary: fc.record({ ...doing('unhide'), action }) },
  { weight: 1, arbitrary: fc.record({ ...doing('delete'), ...by, action }) },
  { weight: 1, arbitrary: fc.record({ ...doing('expire'), action }) },
  {
    weight: 6,
    arbitrary: fc.record({ ...doing('follow'), ...by, ref, copyLimit: fc.nat({ max: 4 }), types }),
  },
  { weight: 3, arbitrary: followMany },
  {
    weight: 3,
    arbitrary: fc.record({
      ...doing('unfollow'),
      ...by,
      ref,
      keepHistory: fc.boolean(),
      isSync: fc.boolean(),
    }),
  },
  { weight: 4, arbitrary: changeMute },
  {
    weight: 5,
    arbitrary: fc.record({
      ...doing('putInList', 'putInList', 'putInList', 'takeFromList'),
      ...{ ...by, list: fc.constantFrom(...LISTS), ref },
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      ...doing('makeExclusive'),
      ...{ ...by, list: fc.constantFrom(...LISTS), isExclusive: fc.constantFrom(true, true, false) },
    }),
  },
  { weight: 2, arbitrary: fc.record({ ...doing('block', 'block', 'unblock'), ...by, who: person }) },
  { weight: 1, arbitrary: fc.record({ ...doing('endMute'), ...by, mute: fc.nat({ max: 2 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      ...doing('hideItem', 'hideItem', 'unhideItem', 'archiveItem', 'archiveItem', 'unarchiveItem'),
      ...by,
      action,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      ...doing('snoozeItem', 'snoozeItem', 'snoozeItem', 'unsnoozeItem'),
      ...by,
      action,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      ...doing('endSnooze'),
      ...by,
      action,
      at: fc.oneof(fc.nat({ max: 8 }), fc.constant('now' as const)),
    }),
  },
  { weight: 3, arbitrary: fc.record({ ...doing('markItemRead', 'markItemUnread'), ...by, action }) },
  { weight: 1, arbitrary: fc.record({ ...doing('bookmark', 'bookmark', 'unbookmark'), ...by, action }) },
  {
    weight: 2,
    arbitrary: fc.record({
      ...doing('markRead'),
      ...by,
      upTo: fc.oneof(fc.nat({ max: 7 }), fc.nat({ max: 7 }), fc.constant('the end of time' as const)),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      ...doing('rename'),
      ref: fc.constantFrom<string>(...REFS),
      label: fc.constantFrom('North', 'South'),
    }),
  },
  { weight: 4, arbitrary: move },
  { weight: 4, arbitrary: fc.record(doing('fanOut', 'fanOut', 'cutOff', 'startWorker', 'stopWorker')) },
  { weight: 2, arbitrary: fc.record({ ...doing('look'), ...by }) },
);

/** Somebody whom another one follows passes on what is for everybody: seldom enough does that come together otherwise. */
const passingOn = fc.record({
  passer: person,
  fan: person,
  types,
  at: moment(3),
  /** It is followed afterwards, with what went before. */
  isLate: fc.constantFrom(false, false, true),
});

const beginning: fc.Arbitrary<Step[]> = fc
  .tuple(
    fc.record({
      ...doing('move'),
      moves: fc
        .tuple(...PEOPLE.map((who) => fc.record({ who: fc.constant(who), ...changes })))
        .chain((moves) => fc.subarray(moves, { minLength: 3 })),
    }),
    fc.record({
      ...doing('followMany'),
      pairs: fc.array(fc.record({ ...by, ref, ...options }), { minLength: 3, maxLength: 9, size: 'max' }),
    }),
    publish,
    publish,
    fc.option(passingOn, { freq: 4 }),
    fc.boolean(),
  )
  .map(([moves, follows, first, second, passedOn, isDelivered]): Step[] => [
    ...[moves, follows],
    ...(passedOn === null ? [second] : passingOnOf(second, passedOn)),
    first,
    // What is done after that is not brought in line by what is still due.
    ...(isDelivered ? [{ do: 'fanOut' as const }] : []),
  ]);

/** It is published first: number 0 picks it. */
function passingOnOf(
  what: Step,
  { passer, fan, types: taken, at, isLate }: typeof passingOn extends fc.Arbitrary<infer T> ? T : never,
): Step[] {
  if (what.do !== 'publish') return [what];
  const published: Step = { ...what, scope: 'PUBLIC', recipients: [], isLater: false };
  const passed: Step = {
    ...{ do: 'interact', action: 0, actor: passer, byService: false, kind: 'RESHARE' },
    ...{ reaction: '👍', key: null, at },
  };
  const followed: Step = { do: 'follow', by: fan, ref: passer, copyLimit: isLate ? 3 : 0, types: taken };
  return isLate ? [published, passed, followed] : [followed, published, passed];
}

export interface Story {
  readonly steps: readonly Step[];
  /** Whose feed is looked at from all sides in the end. */
  readonly focus: Person;
  /** A size of pages. */
  readonly pageSize: number;
}

/** Where people begin, and eight to twenty-two things that happen then. */
export const story: fc.Arbitrary<Story> = fc.record({
  steps: fc
    .tuple(beginning, fc.array(step, { minLength: 8, maxLength: 22, size: 'max' }))
    .map(([first, then]): Step[] => [...first, ...then]),
  focus: person,
  pageSize: fc.integer({ min: 1, max: 4 }),
});

import { NO_BLOCKS } from '../../../src/domain/block.ts';
import { describe, expect, test } from 'vitest';
import { NO_MUTES, readerMutes } from '../../../src/domain/mute.ts';
import { NOTHING_RETURNED, type Follow, type ReaderProfile } from '../../../src/domain/viewer.ts';
import {
  addressedReasons,
  isEntitled,
  needsFollows,
  currentReasons,
  isPulledFor,
  mutesPasser,
  type VisibleAction,
} from '../../../src/domain/visibility.ts';

const recorded = new Date(1_000);

function action(change: Partial<VisibleAction> = {}): VisibleAction {
  return {
    id: 'a'.repeat(24),
    actorId: 'actor',
    recorded,
    descriptor: { type: 'Custom' },
    scope: 'FOLLOWERS',
    audience: ['followers'],
    mentions: [],
    recipients: [],
    refIds: ['site', 'actor'],
    pullRefIds: [],
    reshares: [],
    audienceRev: 0,
    isHidden: false,
    isDeleted: false,
    ...change,
  };
}

function reader(change: Partial<ReaderProfile> = {}): ReaderProfile {
  return {
    userId: 'reader',
    isAdmin: false,
    member: null,
    mutes: NO_MUTES,
    blocks: NO_BLOCKS,
    lastRead: null,
    viewsRead: {},
    lists: [],
    showsLess: [],
    hasMarks: false,
    hasUnreadMarks: false,
    asOf: new Date(0),
    hasEnds: false,
    returned: () => Promise.resolve(NOTHING_RETURNED),
    checksFollows: false,
    hasAssigned: false,
    isRebuilding: false,
    rebuiltAt: null,
    floor: null,
    pulledFollows: [],
    activeAt: null,
    ...change,
  };
}

function memberOf(teamId: string, departmentId: string, since: Date): ReaderProfile {
  const member = {
    userId: 'reader',
    name: 'Reader',
    teamId,
    teamSince: since,
    departmentId,
    departmentSince: since,
    supervisorId: null,
  };
  return reader({ member });
}

const team = action({ scope: 'TEAM', audience: ['team:t'] });
const department = action({ scope: 'DEPARTMENT', audience: ['department:d'] });
const restricted = action({ scope: 'RESTRICTED', audience: ['user:reader'], recipients: ['reader'] });
const open: Follow = { refId: 'site', active: true, spans: [{ since: new Date(500) }] };
const openLater: Follow = { refId: 'site', active: true, spans: [{ since: new Date(2_000) }] };
const closed: Follow = {
  refId: 'site',
  active: false,
  spans: [{ since: new Date(500), until: new Date(1_500) }],
};
const closedBefore: Follow = {
  refId: 'site',
  active: false,
  spans: [{ since: new Date(100), until: new Date(200) }],
};
const elsewhere: Follow = { refId: 'other', active: true, spans: [{ since: new Date(0) }] };

describe('entitlement', () => {
  test.each<[string, ReaderProfile, VisibleAction, readonly Follow[], boolean]>([
    ['a stranger sees a public action', reader(), action({ scope: 'PUBLIC' }), [], true],
    ['a stranger does not see an action for followers', reader(), action(), [], false],
    ['a follower sees it', reader(), action(), [open], true],
    ['a follower sees what was recorded before the span', reader(), action(), [openLater], true],
    ['who followed then sees it', reader(), action(), [closed], true],
    ['who stopped following before does not', reader(), action(), [closedBefore], false],
    ['who follows something else does not', reader(), action(), [elsewhere], false],
    ['the actor sees it', reader({ userId: 'actor' }), action(), [], true],
    ['who is mentioned sees it', reader(), action({ mentions: ['reader'] }), [], true],
    ['an admin sees it', reader({ isAdmin: true }), action(), [], true],
    ['a member of the team sees a team action', memberOf('t', 'x', recorded), team, [], true],
    ['a later member of the team too', memberOf('t', 'x', new Date(9_000)), team, [], true],
    ['a member of another team does not', memberOf('x', 'd', recorded), team, [], false],
    ['a follower does not see a team action', reader(), team, [open], false],
    [
      'a member of the department sees a department action',
      memberOf('x', 'd', recorded),
      department,
      [],
      true,
    ],
    ['a member of another department does not', memberOf('t', 'x', recorded), department, [], false],
    ['a recipient sees a restricted action', reader(), restricted, [], true],
    ['nobody else does', reader({ userId: 'other' }), restricted, [open], false],
    ['hidden: not even a recipient', reader(), { ...restricted, isHidden: true }, [], false],
    ['hidden: not even the actor', reader({ userId: 'actor' }), action({ isHidden: true }), [], false],
    ['hidden: an admin', reader({ isAdmin: true }), action({ isHidden: true }), [], true],
    ['deleted: not even an admin', reader({ isAdmin: true }), action({ isDeleted: true }), [], false],
  ])('%s', (_name, who, what, follows, expected) => {
    expect(isEntitled(who, what, follows)).toBe(expected);
  });

  test('reads follows only if the answer depends on them', () => {
    expect(needsFollows(reader(), action())).toBe(true);
    expect(needsFollows(reader(), action({ mentions: ['reader'] }))).toBe(false);
    expect(needsFollows(reader(), action({ scope: 'PUBLIC' }))).toBe(false);
    expect(needsFollows(reader(), team)).toBe(false);
  });
});

describe('addressing', () => {
  test.each<[string, ReaderProfile, VisibleAction, readonly Follow[], readonly string[]]>([
    ['nobody without a reason', reader(), action({ scope: 'PUBLIC' }), [], []],
    ['a follower whose span holds it', reader(), action(), [open], ['FOLLOW']],
    ['a follower of a public action', reader(), action({ scope: 'PUBLIC' }), [open], ['FOLLOW']],
    ['not a follower who came later', reader(), action(), [openLater], []],
    ['who followed then', reader(), action(), [closed], ['FOLLOW']],
    ['a member who was there', memberOf('t', 'd', recorded), team, [], ['TEAM']],
    ['not a member who came later', memberOf('t', 'd', new Date(1_001)), team, [], []],
    ['a member of the department', memberOf('t', 'd', recorded), department, [], ['DEPARTMENT']],
    ['a recipient', reader(), restricted, [], ['RECIPIENT']],
    ['every reason at once', reader(), action({ mentions: ['reader'] }), [open], ['MENTION', 'FOLLOW']],
  ])('%s', (_name, who, what, follows, expected) => {
    expect(addressedReasons(who, what, follows)).toEqual(expected);
  });
});

test('keeps those stored reasons that still hold', () => {
  const left = memberOf('x', 'd', recorded);
  expect(currentReasons(left, team, ['TEAM'], null)).toEqual([]);
  expect(currentReasons(memberOf('t', 'd', recorded), team, ['TEAM'], null)).toEqual(['TEAM']);
  expect(currentReasons(memberOf('t', 'd', new Date(2_000)), team, ['TEAM'], null)).toEqual([]);
  expect(currentReasons(reader(), action(), ['FOLLOW', 'MENTION'], null)).toEqual(['FOLLOW']);
  expect(currentReasons(reader(), action(), ['FOLLOW'], [open])).toEqual(['FOLLOW']);
  expect(currentReasons(reader(), action(), ['FOLLOW'], [elsewhere])).toEqual([]);
});

test('a follow delivers only its types, but other types stay visible', () => {
  const follow = (types: readonly string[]): Follow => ({
    ...{ refId: 'site', active: false, spans: [{ since: new Date(0), types }] },
  });
  expect(addressedReasons(reader(), action(), [follow(['Custom', 'Posted'])])).toEqual(['FOLLOW']);
  expect(addressedReasons(reader(), action(), [follow(['Posted'])])).toEqual([]);
  expect(isEntitled(reader(), action(), [follow(['Posted'])])).toBe(true);
  const pulled = action({ pullRefIds: ['site'] });
  expect(isPulledFor(reader({ pulledFollows: [follow(['Posted'])] }), pulled)).toBe(false);
  expect(isPulledFor(reader({ pulledFollows: [follow(['Custom'])] }), pulled)).toBe(true);
});

describe('a reshared action', () => {
  const passed = action({ scope: 'PUBLIC', reshares: [{ by: 'bob', at: new Date(5_000) }] });
  const span = { refId: 'bob', active: true, spans: [{ since: new Date(5_000) }] };

  test('reaches readers who followed the resharer then, while it is public', () => {
    expect(addressedReasons(reader(), passed, [span])).toEqual(['RESHARE']);
    expect(addressedReasons(reader(), { ...passed, scope: 'FOLLOWERS' }, [span])).toEqual([]);
    const late = { ...span, spans: [{ since: new Date(5_001) }] };
    const ended = { ...span, spans: [{ since: new Date(0), until: new Date(5_000) }] };
    const ofOthers = { ...span, spans: [{ since: new Date(0), types: ['Posted'] }] };
    expect(addressedReasons(reader(), passed, [late, ended, ofOthers])).toEqual([]);
  });

  test('is trusted once stored, unless the reader mutes the resharer', () => {
    expect(currentReasons(reader(), passed, ['RESHARE'], null)).toEqual(['RESHARE']);
    expect(currentReasons(reader(), { ...passed, audienceRev: 1 }, ['RESHARE'], [])).toEqual([]);
    const mutes = readerMutes([{ kind: 'MEMBER', value: 'bob', text: null, until: null }], new Date());
    expect(mutesPasser(reader({ mutes }), passed)).toBe(true);
    expect(currentReasons(reader({ mutes }), passed, ['RESHARE'], [span])).toEqual([]);
  });
});

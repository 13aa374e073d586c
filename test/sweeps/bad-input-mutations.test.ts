import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADMIN, expectRefusal, sendQuery, SERVICE, type BadRequest } from '../support/bad-requests.ts';
import { openRefusalWorld, type RefusalWorld } from '../support/refusal-world.ts';

let world: RefusalWorld;
beforeAll(async () => {
  world = await openRefusalWorld();
});
afterAll(async () => world[Symbol.asyncDispose]());

const MUTATIONS = {
  follow:
    '($refId: String!, $copyLimit: Int, $types: [String!]) { follow(refId: $refId, copyLimit: $copyLimit, types: $types) { refId } }',
  unfollow:
    '($refId: String!, $keepHistory: Boolean) { unfollow(refId: $refId, keepHistory: $keepHistory) { refId } }',
  addMute:
    '($target: MuteTargetInput!, $until: DateTime) { addMute(target: $target, until: $until) { mutes { id } } }',
  removeMute: '($target: MuteTargetInput!) { removeMute(target: $target) { mutes { id } } }',
  markFeedRead: '($upTo: DateTime!) { markFeedRead(upTo: $upTo) { lastRead } }',
  hideFeedItem: '($id: ID!) { hideFeedItem(actionId: $id) { actionId } }',
  unhideFeedItem: '($id: ID!) { unhideFeedItem(actionId: $id) { actionId } }',
  archiveFeedItem: '($id: ID!) { archiveFeedItem(actionId: $id) { itemId } }',
  unarchiveFeedItem: '($id: ID!) { unarchiveFeedItem(actionId: $id) { itemId } }',
  snoozeFeedItem: '($id: ID!, $until: DateTime!) { snoozeFeedItem(actionId: $id, until: $until) { itemId } }',
  unsnoozeFeedItem: '($id: ID!) { unsnoozeFeedItem(actionId: $id) { itemId } }',
  markItemsRead: '($id: ID!) { markItemsRead(actionIds: [$id]) { memberId } }',
  bookmark: '($id: ID!) { bookmark(actionId: $id) { id } }',
  unbookmark: '($id: ID!) { unbookmark(actionId: $id) { id } }',
  addInteraction: '($input: RecordInteractionInput!) { addInteraction(input: $input) { action { id } } }',
  hideAction: '($id: ID!, $reason: String) { hideAction(id: $id, reason: $reason) { id } }',
  unhideAction: '($id: ID!) { unhideAction(id: $id) { id } }',
  deleteAction: '($id: ID!) { deleteAction(id: $id) { id } }',
  updateAction: '($id: ID!, $input: UpdateActionInput!) { updateAction(id: $id, input: $input) { id } }',
  retryFanOut: '($id: ID!) { retryFanOut(id: $id) { id } }',
  upsertMembers: '($members: [MemberInput!]!) { upsertMembers(members: $members) }',
  upsertRefs: '($refs: [RefInput!]!) { upsertRefs(refs: $refs) }',
  renameRef: '($refId: String!, $label: String!) { renameRef(refId: $refId, label: $label) { label } }',
  rebuildFeed: '($memberId: String!) { rebuildFeed(memberId: $memberId) }',
  eraseMember: '($memberId: String!) { eraseMember(memberId: $memberId) }',
  followMany: '($pairs: [FollowInput!]!) { followMany(pairs: $pairs) }',
} as const;
type Mutation = keyof typeof MUTATIONS;
type Variables = NonNullable<BadRequest['variables']>;
type Case = readonly [what: string, variables: Variables, says: RegExp, more?: Partial<BadRequest>];

function cases(mutation: Mutation, as: BadRequest['as'], list: readonly Case[]): BadRequest[] {
  return list.map(([what, variables, says, more]) => ({
    name: `${mutation} of ${what}`,
    query: `mutation ${MUTATIONS[mutation]}`,
    ...{ variables, says },
    ...(as === undefined ? {} : { as }),
    ...more,
  }));
}

const times = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const UNKNOWN = base64('Action:0123456789abcdef01234567');

/** What is wrong with any id of a person or a ref. */
function ids(field: string): (readonly [string, object, RegExp])[] {
  return [
    ['nothing', { [field]: '' }, new RegExp(`${field}: Must not be empty`)],
    ['257 characters', { [field]: 'x'.repeat(257) }, new RegExp(`${field}: Must be at most 256`)],
    ['NUL', { [field]: 'a\u0000' }, new RegExp(`${field}: Must not contain control`)],
    ['a lone surrogate', { [field]: '\ud800' }, new RegExp(`${field}: Must be well-formed`)],
    ['an operator', { [field]: { $gt: '' } }, /String cannot represent/],
    ['a number', { [field]: 7 }, /String cannot represent/],
    ['null', { [field]: null }, new RegExp(`\\$${field}`)],
  ];
}

/** The same for what takes an edit besides. */
function withInput(variables: Variables): Variables {
  return (given) => ({
    ...((typeof variables === 'function' ? variables(given) : variables) as object),
    input: { expiresAt: null },
  });
}

/** What is wrong with the global id of an action, whatever is to be done to it. */
const ACTION_IDS: readonly Case[] = [
  ['nonsense', { id: 'nonsense' }, /Not an id of this API/],
  ['an operator', { id: { $gt: '' } }, /ID cannot represent/],
  ['a member', ({ ids: { member } }) => ({ id: member }), /Not the id of an action/],
  ['an item', ({ ids: { item } }) => ({ id: item }), /Not the id of an action/],
  ['what there is not', { id: UNKNOWN }, /no such action/, { code: 'NOT_FOUND' }],
];
/** Somebody who follows nobody sees nothing of the actor's. */
const UNSEEN: Case = [
  'what the viewer may not see',
  ({ ids: { action } }) => ({ id: action }),
  /no such action/,
  { code: 'NOT_FOUND', as: { sub: 'lone' } },
];

const SOON = new Date(Date.now() + 3_600_000).toISOString();
const snooze =
  (until: string) =>
  ({ ids: { action } }: RefusalWorld): object => ({ id: action, until });
const member = (more: object): object => ({ members: [{ memberId: 'm', name: 'M', ...more }] });
const ref = (more: object): object => ({ refs: [{ id: 'r', type: 't', label: 'l', ...more }] });
const pair = (more: object): object => ({ pairs: [{ followerId: 'm', refId: 'r', ...more }] });
const interaction =
  (more: object): ((world: RefusalWorld) => object) =>
  ({ ids: { action } }) => ({ input: { actionId: action, kind: 'LIKE', ...more } });
const TOO_MANY = /at most 1000 entries, got 1001/;

const bad: readonly BadRequest[] = [
  ...cases('follow', undefined, [
    ...ids('refId'),
    ['1001 past actions', { refId: 'site', copyLimit: 1_001 }, /from 0 to 1000/],
    ['fewer than no past actions', { refId: 'site', copyLimit: -1 }, /from 0 to 1000/],
    ['half a past action', { refId: 'site', copyLimit: 0.5 }, /Int cannot represent/],
    ['no type', { refId: 'site', types: [] }, /types: Must name at least one type/],
    ['a type that there is not', { refId: 'site', types: ['Nope'] }, /types\.0: Unknown type "Nope"/],
    ['101 types', { refId: 'site', types: times(101, () => 'Posted') }, /at most 100 entries/],
  ]),
  ...cases('unfollow', undefined, [
    ...ids('refId'),
    ['a history that is text', { refId: 'actor', keepHistory: 'no' }, /Boolean cannot represent/],
  ]),
  ...cases('addMute', undefined, [
    ['nothing', { target: {} }, /exactly one|one of/i],
    ['two things', { target: { refId: 'a', phrase: 'b' } }, /exactly one|one of/i],
    ['null', { target: { refId: null } }, /non-null|must not be null|exactly one/i],
    ['a list', { target: { refId: ['a'] } }, /String cannot represent/],
    ['an operator', { target: { refId: { $gt: '' } } }, /String cannot represent/],
    ['oneself', { target: { memberId: 'ann' } }, /somebody else/],
    ['257 characters', { target: { refId: 'x'.repeat(257) } }, /target\.refId: Must be at most 256/],
    ['a type that nobody declares', { target: { type: 'Sneezed' } }, /target\.type: Unknown type/],
    ['a phrase without words', { target: { phrase: '…' } }, /target\.phrase: Must contain at least one word/],
    [
      'a phrase of 101 characters',
      { target: { phrase: 'x'.repeat(101) } },
      /target\.phrase: Must be at most 100/,
    ],
    ['NUL', { target: { phrase: 'a\u0000' } }, /target\.phrase: Must not contain NUL/],
    ['an end that has been', { target: { refId: 'a' }, until: '2020-01-01T00:00:00Z' }, /later than now/],
    ['an end that is no time', { target: { refId: 'a' }, until: 'soon' }, /DateTime must be/],
  ]),
  ...cases('removeMute', undefined, [
    ['nothing', { target: {} }, /exactly one|one of/i],
    ['an empty id', { target: { memberId: '' } }, /target\.memberId: Must not be empty/],
    ['six words', { target: { phrase: 'a b c d e f' } }, /target\.phrase: Must have at most 5 words/],
  ]),
  ...cases('markFeedRead', undefined, [
    ['no time', {}, /\$upTo/],
    ['"now"', { upTo: 'now' }, /DateTime must be/],
    ['a number', { upTo: 0 }, /DateTime must be/],
    ['30 February', { upTo: '2026-02-30T00:00:00Z' }, /DateTime must be/],
    ['the year 10000', { upTo: '+010000-01-01T00:00:00Z' }, /DateTime must be/],
  ]),
  ...cases('hideFeedItem', undefined, [...ACTION_IDS, UNSEEN]),
  ...cases('unhideFeedItem', undefined, [...ACTION_IDS, UNSEEN]),
  ...cases('archiveFeedItem', undefined, [...ACTION_IDS, UNSEEN]),
  ...cases('unarchiveFeedItem', undefined, [...ACTION_IDS, UNSEEN]),
  ...cases('snoozeFeedItem', undefined, [
    ['no time', ({ ids: { action } }) => ({ id: action }), /\$until/],
    ['a word as time', snooze('tomorrow'), /DateTime must be/],
    ['a time that has passed', snooze('2020-01-01T00:00:00Z'), /later than now/],
    ['a time in many years', snooze('9999-12-31T23:59:59.999Z'), /at most a year/],
    ['what there is not', { id: UNKNOWN, until: SOON }, /no such action/, { code: 'NOT_FOUND' }],
    ['nonsense', { id: 'nonsense', until: SOON }, /Not an id of this API/],
    [
      'what the viewer may not see',
      snooze(SOON),
      /no such action/,
      { code: 'NOT_FOUND', as: { sub: 'lone' } },
    ],
  ]),
  ...cases('unsnoozeFeedItem', undefined, [...ACTION_IDS, UNSEEN]),
  ...cases('markItemsRead', undefined, [...ACTION_IDS, UNSEEN]),
  ...cases('bookmark', undefined, [...ACTION_IDS, UNSEEN]),
  ...cases('unbookmark', undefined, [...ACTION_IDS, UNSEEN]),
  ...cases('addInteraction', undefined, [
    ['an unknown kind', interaction({ kind: 'SHOUT' }), /SHOUT/],
    ['no kind', interaction({ kind: null }), /kind/],
    ['nonsense', interaction({ actionId: 'nonsense' }), /Not an id of this API/],
    ['what there is not', interaction({ actionId: UNKNOWN }), /no such action/, { code: 'NOT_FOUND' }],
    ['what one may not see', interaction({}), /no such action/, { code: 'NOT_FOUND', as: { sub: 'lone' } }],
    ['tomorrow', interaction({ at: '9999-01-01T00:00:00Z' }), /five minutes/],
    [
      'two days ago',
      interaction({ at: new Date(Date.now() - 172_800_000).toISOString() }),
      /more than a day ago/,
    ],
    ['30 February', interaction({ at: '2026-02-30T00:00:00Z' }), /DateTime must be/],
    ['an empty key', interaction({ idempotencyKey: '' }), /idempotencyKey: Must not be empty/],
    ['a long key', interaction({ idempotencyKey: 'k'.repeat(257) }), /idempotencyKey: Must be at most/],
    ['an operator as actor', interaction({ actorId: { $ne: '' } }), /String cannot represent/],
    ['nobody', interaction({ actorId: '' }), /actorId: Must not be empty/, { as: SERVICE }],
  ]),
  ...cases('hideAction', ADMIN, [
    ...ACTION_IDS,
    ...(
      [
        ['a reason of 2001 characters', 'x'.repeat(2_001), /reason: Must be at most 2000/],
        ['a reason with NUL', '\u0000', /reason: Must be well-formed/],
        ['a reason that is an operator', { $gt: '' }, /String cannot represent/],
      ] as const
    ).map(([what, reason, says]): Case => [what, (given) => ({ id: given.ids.action, reason }), says]),
  ]),
  ...cases('unhideAction', ADMIN, ACTION_IDS),
  ...cases('deleteAction', ADMIN, ACTION_IDS),
  ...cases('deleteAction', undefined, [UNSEEN]),
  ...cases('updateAction', ADMIN, [
    ...ACTION_IDS.map(([what, variables, ...rest]): Case => [what, withInput(variables), ...rest]),
    ...(
      [
        ['nothing', {}, /Must give at least one field/],
        ['null as mentions', { mentions: null }, /mentions: Invalid input/],
        ['an empty mention', { mentions: [''] }, /Must not be empty/],
        [
          '1001 mentions',
          { mentions: times(1_001, (n) => `m${String(n)}`) },
          /mentions: Must have at most 1000/,
        ],
        [
          '101 refs',
          { refs: times(101, (n) => ({ id: `r${String(n)}`, type: 't', label: 'l' })) },
          /at most 100/,
        ],
        ['another type', { descriptor: { liked: { likedId: 'x', likedName: 'X' } } }, /descriptor/],
        ['an end in the past', { expiresAt: '1970-01-01T00:00:00Z' }, /Must be later than now/],
        ['RESTRICTED to nobody', { scope: 'RESTRICTED' }, /Must name 1 to 1000/],
        ['recipients of all', { recipients: ['ann'] }, /Must be omitted/],
        ['an operator', { mentions: { $ne: [] } }, /String cannot represent/],
      ] as const
    ).map(([what, input, says]): Case => [what, (given) => ({ id: given.ids.action, input }), says]),
  ]),
  ...cases('retryFanOut', ADMIN, [
    ...ACTION_IDS,
    ['what has not failed', (given) => ({ id: given.ids.action }), /has not failed/, { code: 'CONFLICT' }],
  ]),
  ...cases('upsertMembers', SERVICE, [
    ['no id', member({ memberId: '' }), /members\.0\.memberId: Must not be empty/],
    ['no name', member({ name: '' }), /members\.0\.name: Must not be empty/],
    ['NUL as team', member({ teamId: '\u0000' }), /members\.0\.teamId: Must not contain/],
    ['an empty department', member({ departmentId: '' }), /members\.0\.departmentId: Must not be/],
    ['an operator as supervisor', member({ supervisorId: { $ne: 1 } }), /String cannot represent/],
    ['roles', member({ roles: ['admin'] }), /roles/],
    [
      'a good and a bad one',
      {
        members: [
          { memberId: 'm', name: 'M' },
          { memberId: 'n', name: '' },
        ],
      },
      /members\.1/,
    ],
    ['1001', { members: times(1_001, (n) => ({ memberId: `m${String(n)}`, name: 'M' })) }, TOO_MANY],
  ]),
  ...cases('upsertRefs', SERVICE, [
    ['no id', ref({ id: '' }), /refs\.0\.id: Must not be empty/],
    ['no type', ref({ type: '' }), /refs\.0\.type: Must not be empty/],
    ['a lone surrogate', ref({ label: '\ud800' }), /refs\.0\.label: Must be well-formed/],
    ['a label with a line break', ref({ label: 'a\nb' }), /refs\.0\.label: Must not contain control/],
    [
      'a label of nothing that is seen',
      ref({ label: '\u200b\u3164' }),
      /refs\.0\.label: Must have a visible/,
    ],
    ...[
      'http://a/',
      'https://ann:secret@a/',
      'https://@a/',
      'https://a/"><b>',
      "https://a/'",
      'https://a/b c',
    ].map((url): Case => [
      `the link ${url}`,
      ref({ url }),
      /refs\.0\.url: Must be a URL that begins with https/,
    ]),
    ['a label of 513 characters', ref({ label: 'x'.repeat(513) }), /refs\.0\.label: Must be at most 512/],
    ['a count of followers', ref({ followerCount: 7 }), /followerCount/],
    ['1001', { refs: times(1_001, (n) => ({ id: `r${String(n)}`, type: 't', label: 'l' })) }, TOO_MANY],
  ]),
  ...cases('renameRef', SERVICE, [
    ...ids('refId').map(([what, variables, ...more]): Case => [what, { label: 'l', ...variables }, ...more]),
    ['a label of nothing', { refId: 'site', label: '' }, /label: Must not be empty/],
    ['a label with NUL', { refId: 'site', label: '\u0000' }, /label: Must not contain NUL/],
    ['a label with a lone surrogate', { refId: 'site', label: '\udfff' }, /label: Must be well-formed/],
    ['a label that is an operator', { refId: 'site', label: { $gt: '' } }, /String cannot represent/],
    ['what there is not', { refId: 'nothing', label: 'l' }, /no such ref/, { code: 'NOT_FOUND' }],
    ['a member', { refId: 'lone', label: 'l' }, /no such ref/, { code: 'NOT_FOUND' }],
  ]),
  ...cases('rebuildFeed', ADMIN, ids('memberId')),
  ...cases('eraseMember', ADMIN, ids('memberId')),
  ...cases('followMany', SERVICE, [
    ['nobody', pair({ followerId: '' }), /pairs\.0\.followerId: Must not be empty/],
    ['nothing', pair({ refId: '' }), /pairs\.0\.refId: Must not be empty/],
    ['a line break', pair({ refId: 'a\nb' }), /pairs\.0\.refId: Must not contain control/],
    ['no type', pair({ types: [] }), /pairs\.0\.types: Must name at least one type/],
    ['an unknown type', pair({ types: ['Posted', 'Nope'] }), /pairs\.0\.types\.1: Unknown type/],
    ['an assignment that is a word', pair({ isAssigned: 'yes' }), /Boolean cannot represent/],
    ['1001', { pairs: times(1_001, (n) => ({ followerId: `m${String(n)}`, refId: 'site' })) }, TOO_MANY],
  ]),
];

test.each(bad)('rejects $name and changes nothing', async (request) => {
  await expectRefusal(world, request, () => sendQuery(world, request));
});

test('accepts the same input without the fault', async () => {
  await using free = await openRefusalWorld({ worker: true });
  const action = ({ ids: { action: id } }: RefusalWorld): object => ({ id });
  const good: readonly (readonly [Mutation, Variables, BadRequest['as']?])[] = [
    ['follow', { refId: 'x'.repeat(256), copyLimit: 1_000 }],
    ['unfollow', { refId: 'actor', keepHistory: false }],
    ['addMute', { target: { phrase: 'x'.repeat(100) }, until: '9999-12-31T23:59:59.999Z' }],
    ['removeMute', { target: { type: 'Sneezed' } }],
    ['markFeedRead', { upTo: '9999-12-31T23:59:59.999Z' }],
    ['follow', { refId: 'actor', types: times(100, () => 'Posted') }],
    ['hideFeedItem', action],
    ['unhideFeedItem', action],
    ['archiveFeedItem', action],
    ['unarchiveFeedItem', action],
    ['snoozeFeedItem', snooze(SOON)],
    ['unsnoozeFeedItem', action],
    ['markItemsRead', action],
    ['bookmark', action],
    ['unbookmark', action],
    ['addInteraction', interaction({ idempotencyKey: 'k'.repeat(256), at: new Date().toISOString() })],
    ['hideAction', (given) => ({ ...action(given), reason: 'x'.repeat(2_000) }), ADMIN],
    ['unhideAction', action, ADMIN],
    ['upsertMembers', member({ teamId: null, supervisorId: 'nobody' }), SERVICE],
    ['upsertMembers', { members: times(1_000, (n) => ({ memberId: `m${String(n)}`, name: 'M' })) }, SERVICE],
    ['upsertRefs', { refs: times(1_000, (n) => ({ id: `r${String(n)}`, type: 't', label: 'l' })) }, SERVICE],
    ['followMany', { pairs: times(1_000, (n) => ({ followerId: `m${String(n)}`, refId: 'site' })) }, SERVICE],
    ['renameRef', { refId: 'site', label: '$label'.repeat(64) }, SERVICE],
    ['updateAction', (given) => ({ ...action(given), input: { mentions: times(1_000, String) } }), ADMIN],
    ['deleteAction', action, ADMIN],
    ['deleteAction', action, ADMIN],
    ['rebuildFeed', { memberId: 'ann' }, ADMIN],
    ['eraseMember', { memberId: 'bob' }, ADMIN],
    ['eraseMember', { memberId: 'bob' }, ADMIN],
  ];
  for (const [mutation, variables, as] of good) {
    const query = `mutation ${MUTATIONS[mutation]}`;
    const { errors } = await sendQuery(free, { query, variables, ...(as === undefined ? {} : { as }) });
    expect([mutation, errors]).toEqual([mutation, []]);
    await free.app.idle();
  }
});

import { namedBy } from '../../../src/domain/audience.ts';
import { blockTag } from '../../../src/domain/block.ts';
import type { ItemState } from '../../../src/domain/item-states.ts';
import type { ActionDocument } from '../../../src/storage/documents/documents.ts';
import type { Collections } from '../../../src/storage/database/mongo.ts';
import type { Model, ModelAction, ModelInteraction } from '../../support/model.ts';

/**
 * What has happened according to the records of it – actions, interactions, follows, members, what readers marked – and
 * to nothing that is stored of feeds, for the definition to be worked out from. Without names.
 */
export async function referenceOf(collections: Collections, userIds: readonly string[]): Promise<Model> {
  const [members, marks, itemMarks, follows, interactions, actions, blocks] = await Promise.all([
    collections.members.find().toArray(),
    collections.feeds.find().toArray(),
    collections.itemMarks.find().toArray(),
    collections.follows.find().toArray(),
    collections.interactions.find().toArray(),
    collections.actions.find().sort({ recorded: 1, _id: 1 }).toArray(),
    collections.blocks.find({ own: { $exists: true } }).toArray(),
  ]);
  const interactionsOf = new Map<string, ModelInteraction[]>();
  for (const {
    _id,
    actionId,
    kind,
    actorId,
    reaction,
    at,
    shownAt = at,
    departmentIds,
    state,
    wasHidden,
    passedOn,
    text,
    editedAt,
    parentId,
    mentions = [],
    notFor = [],
  } of interactions) {
    const id = actionId.toHexString();
    const others = interactionsOf.get(id) ?? [];
    interactionsOf.set(id, [
      ...others,
      {
        ...{ id: _id.toHexString(), kind, actorId, reaction: reaction ?? null, departmentIds, keys: [] },
        ...{ at: at.getTime(), shownAt: shownAt.getTime() },
        ...{ state: state ?? 'VISIBLE', wasHidden: wasHidden ?? false },
        passedOn: passedOn?.getTime() ?? null,
        text: text ?? null,
        editedAt: editedAt?.getTime() ?? null,
        parentId: parentId?.toHexString() ?? null,
        mentions,
        notFor: userIds.filter((userId) => notFor.includes(blockTag(userId))),
      },
    ]);
  }
  return {
    turn: 0,
    names: new Map(),
    blocks: blocks.map(({ _id: { userId, otherId } }) => ({ by: userId, who: otherId })),
    pins: new Map(),
    scheduled: [],
    members: members.map(({ _id, teamId, teamSince, departmentId, departmentSince, supervisorId }) => ({
      userId: _id,
      teamId,
      teamSince: teamSince?.getTime() ?? 0,
      departmentId,
      departmentSince: departmentSince?.getTime() ?? 0,
      supervisorId,
    })),
    follows: follows.map(({ _id, followerId, refId, active, isAssigned, openedAt, assignedAt, spans }) => ({
      id: _id.toHexString(),
      lists: [],
      openedAt: openedAt?.getTime() ?? null,
      assignedAt: assignedAt?.getTime() ?? null,
      followerId,
      refId,
      isActive: active,
      isAssigned: active && isAssigned === true,
      spans: spans.map(({ since, sinceAction, until, types }) => ({
        since: since.getTime(),
        firstActionId: sinceAction?.toHexString() ?? null,
        until: until?.getTime() ?? null,
        types: types ?? null,
      })),
    })),
    actions: actions.map((action): ModelAction => {
      const id = action._id.toHexString();
      const concerned = concernedOf(action);
      return {
        id,
        actorId: action.actorId,
        namedInVain: new Set(
          [...namedBy(action.audience).keys()].filter(
            (userId) => action.notFor?.includes(blockTag(userId)) === true,
          ),
        ),
        conducted: action.conducted.getTime(),
        recorded: action.recorded.getTime(),
        scope: action.scope,
        groupId: groupOf(action.audience),
        mentions: action.mentions,
        recipients: action.recipients,
        refIds: action.refIds,
        ...{ type: action.descriptor.type, asked: null },
        text: typeof action.descriptor['verb'] === 'string' ? action.descriptor['verb'] : '',
        tags: action.descriptor.tags,
        ...{ refsGiven: 0, version: action.version ?? 1, expiresAt: action.expiresAt?.getTime() ?? null },
        concernedPeople: concerned('user:'),
        concernedDepartments: concerned('department:'),
        formerPeople: formerOf(action, 'user:'),
        formerDepartments: formerOf(action, 'department:'),
        interactions: interactionsOf.get(id) ?? [],
        ...{ isHidden: action.isHidden, shownAt: action.shownAt?.getTime() ?? null },
        isDeleted: action.isDeleted,
      };
    }),
    readers: userIds.map((userId) => {
      const own = marks.find(({ _id }) => _id === userId);
      const said = itemMarks.filter(({ _id }) => _id.userId === userId);
      const inState = (state: ItemState): string[] =>
        said.filter((mark) => mark.state === state).map(({ _id }) => _id.actionId.toHexString());
      return {
        userId,
        roles: ['user'],
        mutes: [
          ...(own?.mutes ?? []).flatMap(({ kind, value, until }) =>
            until === undefined || until.getTime() > Date.now() ? [{ kind, value, hasEnd: false }] : [],
          ),
        ],
        bookmarks: [],
        lists: new Map(),
        notifications: { seenAt: null, readAt: null, read: new Map(), preferences: new Map() },
        hiddenActionIds: inState('HIDDEN'),
        archivedActionIds: inState('ARCHIVED'),
        snoozed: new Map(
          said.flatMap(({ _id, until }) =>
            until === undefined ? [] : [[_id.actionId.toHexString(), until.getTime()] as const],
          ),
        ),
        readAt: new Map(
          said.flatMap(({ _id, readAt }) =>
            readAt === undefined ? [] : [[_id.actionId.toHexString(), readAt.getTime()] as const],
          ),
        ),
        unreadActionIds: said.filter(({ isUnread }) => isUnread).map(({ _id }) => _id.actionId.toHexString()),
        lastRead: own?.lastRead?.getTime() ?? null,
      };
    }),
  };
}

/** Since when an action concerns people or departments. */
function concernedOf({ concerned, audience }: ActionDocument): (prefix: string) => Map<string, number> {
  const all = concerned ?? audience.map((key) => ({ key, since: undefined }));
  return (prefix) =>
    new Map(
      all.flatMap(({ key, since }) =>
        key.startsWith(prefix) ? [[key.slice(prefix.length), since?.getTime() ?? -Infinity] as const] : [],
      ),
    );
}

/** Until when it concerned them before an edit. */
function formerOf({ formerlyConcerned = [] }: ActionDocument, prefix: string): Map<string, number> {
  return new Map(
    formerlyConcerned.flatMap(({ key, until }) =>
      key.startsWith(prefix) ? [[key.slice(prefix.length), until.getTime()] as const] : [],
    ),
  );
}

/** The team or department among the keys of an audience. */
function groupOf(audience: readonly string[]): string | null {
  const [, groupId = null] = /^(?:team|department):(.*)$/.exec(
    audience.find((key) => /^(?:team|department):/.test(key)) ?? '',
  ) ?? [null, null];
  return groupId;
}

import type { Document } from 'mongodb';
import { groupKeyOf } from '../../descriptors/group-key.ts';
import { descriptorOfType } from '../../descriptors/registry.ts';
import type { HostEventFacts } from '../../domain/host-event.ts';
import { storedId, tenantOf, type Tenant } from '../../domain/tenant.ts';
import type { MemberDocument, RefDocument } from '../documents/directory-documents.ts';
import type {
  ActionDocument,
  ErasureDocument,
  FormerAudienceDocument,
  InteractionDocument,
  ModerationDocument,
  ReshareDocument,
} from '../documents/documents.ts';
import { erasureKeyOf } from '../privacy/erasures.ts';
import type { HostEventDocument, OutboxDocument } from '../documents/event-documents.ts';
import { idOfStamp } from '../directory/name-stamps.ts';
import type { BookmarkDocument, FeedDocument, FollowDocument } from '../documents/reader-documents.ts';
import { newRevision } from '../stages/revision.ts';
import type { WebhookDeliveryDocument } from '../documents/webhook-documents.ts';

/** Adds the tenant to every id of a document. Idempotent. */
type Adopt<D> = (tenant: Tenant, document: D) => D;

/** How to adopt the documents of each collection. Free JSON contains ids in the application's form and stays. */
export const ADOPTED: ReadonlyMap<string, Adopt<Document>> = new Map(
  Object.entries({
    members: ((tenant, { _id, teamId, departmentId, supervisorId, ...rest }) => ({
      ...{ _id: behind(tenant, _id), ...rest },
      teamId: orNull(tenant, teamId),
      departmentId: orNull(tenant, departmentId),
      supervisorId: orNull(tenant, supervisorId),
    })) satisfies Adopt<MemberDocument>,
    refs: ((tenant, { _id, ...rest }) => ({
      _id: behind(tenant, _id),
      ...rest,
    })) satisfies Adopt<RefDocument>,
    follows: ((tenant, document) => ({
      ...document,
      followerId: behind(tenant, document.followerId),
      refId: behind(tenant, document.refId),
    })) satisfies Adopt<FollowDocument>,
    feeds: adoptedReader satisfies Adopt<FeedDocument>,
    itemMarks: adoptedMark,
    bookmarks: adoptedMark,
    interactions: adoptedInteraction,
    moderationLog: adoptedModeration,
    erasures: adoptedErasure,
    eventOutbox: ((tenant, document) => ({
      ...document,
      facts: adoptedFacts(tenant, document.facts),
    })) satisfies Adopt<OutboxDocument>,
    hostEvents: ((tenant, { facts, memberIds, ...rest }) => ({
      ...{ ...rest, tenant, facts: adoptedFacts(tenant, facts) },
      ...(memberIds === undefined ? {} : { memberIds: all(tenant, memberIds) }),
    })) satisfies Adopt<HostEventDocument>,
    webhookDeliveries: ((tenant, document) => ({
      ...document,
      tenant,
    })) satisfies Adopt<WebhookDeliveryDocument>,
    actions: adoptedAction,
  } as unknown as Readonly<Record<string, Adopt<Document>>>),
);

function behind(tenant: Tenant, id: string): string {
  return tenantOf(id) === null ? storedId(tenant, id) : id;
}

function all(tenant: Tenant, ids: readonly string[]): string[] {
  return ids.map((id) => behind(tenant, id));
}

function orNull(tenant: Tenant, id: string | null): string | null {
  return id === null ? null : behind(tenant, id);
}

const AUDIENCE_KEY = /^(team|department|user):(.*)$/su;

function adoptedKey(tenant: Tenant, key: string): string {
  const [, kind, id] = AUDIENCE_KEY.exec(key) ?? [];
  return kind === undefined || id === undefined ? key : `${kind}:${behind(tenant, id)}`;
}

function adoptedReader(tenant: Tenant, { _id, muted, mutes, ...rest }: FeedDocument): FeedDocument {
  return {
    ...{ _id: behind(tenant, _id), ...rest },
    ...(muted === undefined ? {} : { muted: all(tenant, muted) }),
    ...(mutes === undefined
      ? {}
      : {
          mutes: mutes.map((mute) =>
            mute.kind === 'MEMBER' || mute.kind === 'REF'
              ? { ...mute, value: behind(tenant, mute.value) }
              : mute,
          ),
        }),
  };
}

function adoptedMark<D extends Pick<BookmarkDocument, '_id'>>(tenant: Tenant, document: D): D {
  const { userId, actionId } = document._id;
  return { ...document, _id: { userId: behind(tenant, userId), actionId } };
}

function adoptedInteraction(tenant: Tenant, document: InteractionDocument): InteractionDocument {
  const { actorId, departmentIds, key, unlogged } = document;
  return {
    ...document,
    tenant,
    actorId: behind(tenant, actorId),
    departmentIds: all(tenant, departmentIds),
    key: adoptedInteractionKey(tenant, key, actorId),
    ...(unlogged === undefined ? {} : { unlogged: unlogged.map((one) => adoptedModeration(tenant, one)) }),
  };
}

/** A key starts with its actor, or is an id that names nobody. */
function adoptedInteractionKey(tenant: Tenant, key: string, actorId: string): string {
  const head = `[${JSON.stringify(actorId)},`;
  return key.startsWith(head) ? `[${JSON.stringify(behind(tenant, actorId))},${key.slice(head.length)}` : key;
}

function adoptedModeration(tenant: Tenant, document: ModerationDocument): ModerationDocument {
  return { ...document, tenant, by: behind(tenant, document.by) };
}

/** The member of a finished erasure is unknown: it stays under the key of the id without a tenant. */
function adoptedErasure(tenant: Tenant, document: ErasureDocument): ErasureDocument {
  const { memberId, pseudonym, by } = document;
  return {
    ...document,
    tenant,
    by: behind(tenant, by),
    ...(memberId === undefined
      ? {}
      : { _id: erasureKeyOf(behind(tenant, memberId)), memberId: behind(tenant, memberId) }),
    ...(pseudonym === undefined ? {} : { pseudonym: behind(tenant, pseudonym) }),
  };
}

function adoptedFacts(tenant: Tenant, facts: HostEventFacts): HostEventFacts {
  const { actorId, followerId, refId, memberId, readers } = facts;
  return {
    ...facts,
    ...(actorId === undefined ? {} : { actorId: behind(tenant, actorId) }),
    ...(followerId === undefined ? {} : { followerId: behind(tenant, followerId) }),
    ...(refId === undefined ? {} : { refId: behind(tenant, refId) }),
    ...(memberId === undefined ? {} : { memberId: behind(tenant, memberId) }),
    ...(readers === undefined
      ? {}
      : {
          readers: readers.map((reader) => ({ ...reader, memberId: behind(tenant, reader.memberId) })),
        }),
  };
}

function adoptedAction(tenant: Tenant, document: ActionDocument): ActionDocument {
  const { names, otherIds, groupKey, undecidedRefIds, pullRefIds, reshares, unlogged } = document;
  const { concerned, formerlyConcerned } = document;
  const { checkpoint, former, toldAudience, ...fanOut } = document.fanOut;
  const actorId = behind(tenant, document.actorId);
  const descriptor = adoptedDescriptor(tenant, document.descriptor);
  const newGroup = groupKey === undefined ? null : groupKeyOf({ ...document, actorId, descriptor });
  return {
    ...document,
    rev: newRevision(),
    tenant,
    actorId,
    audience: document.audience.map((key) => adoptedKey(tenant, key)),
    mentions: all(tenant, document.mentions),
    recipients: all(tenant, document.recipients),
    refs: document.refs.map((ref) => ({ ...ref, id: behind(tenant, ref.id) })),
    refIds: all(tenant, document.refIds),
    descriptor,
    ...(newGroup === null ? {} : { groupKey: newGroup }),
    ...(names === undefined ? {} : { names: names.map((stamp) => adoptedStamp(tenant, stamp)) }),
    ...(otherIds === undefined ? {} : { otherIds: all(tenant, otherIds) }),
    ...(concerned === undefined ? {} : { concerned: adoptedKeys(tenant, concerned) }),
    ...(formerlyConcerned === undefined ? {} : { formerlyConcerned: adoptedKeys(tenant, formerlyConcerned) }),
    ...(undecidedRefIds === undefined ? {} : { undecidedRefIds: all(tenant, undecidedRefIds) }),
    ...(pullRefIds === undefined ? {} : { pullRefIds: all(tenant, pullRefIds) }),
    ...(reshares === undefined ? {} : { reshares: adoptedReshares(tenant, reshares) }),
    ...(unlogged === undefined ? {} : { unlogged: unlogged.map((one) => adoptedModeration(tenant, one)) }),
    fanOut: {
      ...fanOut,
      ...(checkpoint === undefined
        ? {}
        : { checkpoint: { ...checkpoint, afterUserId: behind(tenant, checkpoint.afterUserId) } }),
      ...(former === undefined ? {} : { former: former.map((one) => adoptedAudience(tenant, one)) }),
      ...(toldAudience === undefined ? {} : { toldAudience: adoptedAudience(tenant, toldAudience) }),
    },
  };
}

/** Ids in undeclared types stay, since it is unknown which fields contain ids. */
function adoptedDescriptor(
  tenant: Tenant,
  descriptor: ActionDocument['descriptor'],
): ActionDocument['descriptor'] {
  const { type, tags, ...values } = descriptor;
  const fields = descriptorOfType(type)?.fields ?? {};
  const entries = Object.entries(values).map(([name, value]) => [
    name,
    fields[name]?.kind === 'id' && typeof value === 'string' ? behind(tenant, value) : value,
  ]);
  return { type, tags, ...(Object.fromEntries(entries) as object) };
}

function adoptedKeys<T extends { readonly key: string }>(tenant: Tenant, keyed: readonly T[]): T[] {
  return keyed.map((one) => ({ ...one, key: adoptedKey(tenant, one.key) }));
}

function adoptedStamp(tenant: Tenant, stamp: string): string {
  const id = idOfStamp(stamp);
  return `${behind(tenant, id)}${stamp.slice(id.length)}`;
}

function adoptedReshares(tenant: Tenant, reshares: readonly ReshareDocument[]): ReshareDocument[] {
  return reshares.map(({ by, at }) => ({ by: behind(tenant, by), at }));
}

function adoptedAudience(tenant: Tenant, former: FormerAudienceDocument): FormerAudienceDocument {
  const { audience, mentions, recipients, refIds, pullRefIds, reshares } = former;
  return {
    ...former,
    audience: audience.map((key) => adoptedKey(tenant, key)),
    mentions: all(tenant, mentions),
    recipients: all(tenant, recipients),
    refIds: all(tenant, refIds),
    pullRefIds: all(tenant, pullRefIds),
    ...(reshares === undefined ? {} : { reshares: adoptedReshares(tenant, reshares) }),
  };
}

import { createHash } from 'node:crypto';
import { tenantOfFacts, type HostEvent, type HostEventFacts } from '../../../domain/host-event.ts';
import type { Tenant } from '../../../domain/stored-id.ts';
import type {
  ActionDocument,
  ErasureDocument,
  InteractionDocument,
} from '../../../storage/documents/documents.ts';
import type { UnsentEvents } from '../../../storage/documents/event-documents.ts';
import type { FollowDocument } from '../../../storage/documents/reader-documents.ts';
import type { ReportDocument } from '../../reports/store.ts';

/** Hex digits of an id, enough to rule out collisions. */
const ID_LENGTH = 32;

/** Deterministic: the same parts give the same id, so that repeated work creates one event. */
export function eventIdOf(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, ID_LENGTH);
}

function eventsOf(
  document: UnsentEvents & { readonly _id: { toString(): string } },
  facts: HostEventFacts,
  tenant: Tenant | null = tenantOfFacts(facts),
): HostEvent[] {
  let at = new Date(0);
  return (document.unsent ?? []).map((entry) => {
    // Clocks of two processes may differ slightly: a later entry in a document must not have an earlier time.
    if (entry.at > at) at = entry.at;
    const id = eventIdOf(document._id.toString(), entry.token.toHexString());
    return { id, type: entry.type, at, tenant, facts };
  });
}

type Carrying<D, K extends keyof D> = Pick<D, K | Extract<keyof D, '_id'>> & UnsentEvents;

/** Events of an action in its current form: members erased since are not named. */
export function eventsOfAction(
  document: Carrying<ActionDocument, 'actorId' | 'scope'> & {
    readonly descriptor: { readonly type: string };
  },
): HostEvent[] {
  const { _id, actorId, descriptor, scope } = document;
  const facts = { actionId: _id.toHexString(), actorId, descriptorType: descriptor.type, scope };
  return eventsOf(document, facts);
}

export function eventsOfInteraction(
  document: Carrying<InteractionDocument, 'actionId' | 'actorId' | 'kind' | 'reaction'>,
): HostEvent[] {
  const { _id, actionId, actorId, kind, reaction } = document;
  const facts = {
    ...{ interactionId: _id.toHexString(), actionId: actionId.toHexString(), actorId, kind },
    ...(reaction === undefined ? {} : { reaction }),
  };
  return eventsOf(document, facts);
}

export function eventsOfFollow(document: Carrying<FollowDocument, 'followerId' | 'refId'>): HostEvent[] {
  const { _id, followerId, refId } = document;
  return eventsOf(document, { followId: _id.toHexString(), followerId, refId });
}

/** Names whose content was reported, and not who reported it. */
export function eventsOfReport(
  document: Carrying<ReportDocument, 'actionId' | 'interactionId' | 'actorId' | 'state'>,
): HostEvent[] {
  const { _id, actionId, interactionId, actorId, state } = document;
  return eventsOf(document, {
    ...(interactionId === undefined ? {} : { interactionId: interactionId.toHexString() }),
    ...(actionId === undefined ? {} : { actionId: actionId.toHexString() }),
    ...{ actorId, reportId: _id.toHexString(), reportState: state },
  });
}

/** Names the tenant but not the erased member. */
export function eventsOfErasure(document: Carrying<ErasureDocument, 'tenant'>): HostEvent[] {
  return eventsOf(document, { erasureKey: document._id }, document.tenant ?? null);
}

/** Fields that the functions above need: the whole documents are many times as large. */
export const FACTS_OF = {
  actions: ['actorId', 'scope', 'descriptor.type'],
  interactions: ['actionId', 'actorId', 'kind', 'reaction'],
  follows: ['followerId', 'refId'],
  reports: ['actionId', 'interactionId', 'actorId', 'state'],
  erasures: ['tenant'],
} as const;

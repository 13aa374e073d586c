import type { UserId } from './action.ts';
import type { HostEvent, HostEventType } from './host-event.ts';
import type { Tenant } from './tenant.ts';
import { encodeActionId, encodeInteractionId } from './node-ids.ts';

export interface HostEventView {
  readonly id: string;
  readonly type: HostEventType;
  readonly at: Date;
  /** `null` without tenants. */
  readonly tenant: Tenant | null;
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * The payload of a host event: ids in the form the API uses, and no text that anybody wrote.
 * @param erasedMember the member behind the event's erasure key, while still known.
 */
export function hostEventData(
  { type, facts }: HostEvent,
  erasedMember: (erasureKey: string) => UserId | null,
): Readonly<Record<string, unknown>> {
  const { actionId, interactionId, descriptorType, erasureKey, ...rest } = facts;
  return {
    ...(actionId === undefined ? {} : { actionId: encodeActionId(actionId) }),
    ...(interactionId === undefined ? {} : { interactionId: encodeInteractionId(interactionId) }),
    ...(descriptorType === undefined ? {} : { type: descriptorType }),
    ...rest,
    ...(type === 'interaction.recorded' || type === 'interaction.removed'
      ? { reaction: rest.reaction ?? null }
      : {}),
    ...(erasureKey === undefined ? {} : { key: erasureKey, memberId: erasedMember(erasureKey) }),
  };
}

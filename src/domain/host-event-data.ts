import type { UserId } from './action.ts';
import type { HostEvent, HostEventType } from './host-event.ts';
import type { Tenant } from './tenant.ts';
import { encodeActionId, encodeInteractionId } from './node-ids.ts';

export interface HostEventView {
  readonly id: string;
  readonly type: HostEventType;
  readonly at: Date;
  /** Null where tenants are off. */
  readonly tenant: Tenant | null;
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * The data of an event: ids as the API has them, and nothing of what anybody wrote.
 * @param erasedMember whose erasure a key names, as long as that is known.
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

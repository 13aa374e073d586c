import type { HostEventType } from '../../domain/host-event.ts';
import type { WebhookState } from '../../domain/webhook.ts';

/** How far a receiver has come in the log of events. `_id` is its URL. */
export interface WebhookReceiverDocument {
  _id: string;
  /** Up to and with this number every event was taken or has a delivery document. */
  seq: number;
  worker?: string;
  leaseUntil?: Date;
  /** When a process last had it in its settings. */
  seenAt: Date;
}

/** An event that a receiver has not taken yet. What is sent is made from the event, so nobody is named here. */
export interface WebhookDeliveryDocument {
  /** Made of receiver and event. */
  _id: string;
  url: string;
  eventId: string;
  seq: number;
  /** Of the event. */
  tenant?: string;
  type: HostEventType;
  /** Absent where the event is about none. */
  actionId?: string;
  state: WebhookState;
  attempts: number;
  error?: string;
  /** Of all that are about one action the same. Absent once it is FAILED. */
  nextAttemptAt?: Date;
  triedSince: Date;
}

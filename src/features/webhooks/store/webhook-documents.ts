import type { Beside } from '../../../domain/stored-id.ts';
import type { HostEventType } from '../../../domain/host-event.ts';
import type { LeaseDocument } from '../../../storage/documents/lease-document.ts';
import type { WebhookState } from '../../../domain/webhook.ts';

declare module '../../../storage/documents/declaration.ts' {
  interface Documents {
    readonly webhookDeliveries: WebhookDeliveryDocument;
    readonly webhookReceivers: WebhookReceiverDocument;
  }
}

/** Progress of a receiver in the log of events. `_id` is its URL. */
export interface WebhookReceiverDocument {
  _id: string;
  /** All events up to and including this number were accepted or have a delivery document. */
  seq: number;
  /** Of the process that sends to it. */
  lease?: LeaseDocument;
  /** When a process last had it in its settings. */
  seenAt: Date;
}

/** An event that a receiver has not accepted yet. The payload is built from the event, so nobody is named here. */
export interface WebhookDeliveryDocument extends Beside {
  /** Made of receiver and event. */
  _id: string;
  url: string;
  eventId: string;
  seq: number;
  type: HostEventType;
  /** Absent if the event is not about an action. */
  actionId?: string;
  state: WebhookState;
  attempts: number;
  error?: string;
  /** Equal for all deliveries about one action. Absent once FAILED. */
  nextAttemptAt?: Date;
  triedSince: Date;
}
